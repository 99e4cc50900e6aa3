#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files are written as a whole."""
import errno
import os
import pathlib
import resource
import tempfile
import unittest
from unittest import mock

from bench import files


class Write(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "a.json"

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_text_and_bytes(self):
        files.write(self.path, "größer")
        self.assertEqual(self.path.read_bytes(), "größer".encode())
        files.write(str(self.path), b"\0\1")
        self.assertEqual(self.path.read_bytes(), b"\0\1")
        self.assertEqual(self.names(), ["a.json"])

    def test_a_full_disk_keeps_what_was_there(self):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        for old in (None, "old"):
            if old:
                self.path.write_text(old)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
            try:
                with self.assertRaises(OSError) as trouble:
                    files.write(self.path, "x" * 5000)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            self.assertEqual(trouble.exception.errno, errno.EFBIG)
            self.assertEqual(self.names(), ["a.json"] if old else [])
        self.assertEqual(self.path.read_text(), "old")

    def test_no_room_for_another_file_keeps_what_was_there(self):
        self.path.write_text("old")
        with mock.patch("tempfile.mkstemp", side_effect=OSError(errno.ENOSPC, "full")), \
                self.assertRaises(OSError):
            files.write(self.path, "new")
        self.assertEqual(self.path.read_text(), "old")

    def test_a_link_stays_one(self):
        (self.folder / "there").mkdir()
        self.path.symlink_to("there/b.json")
        for contents in ("first", "second"):
            files.write(self.path, contents)
            self.assertTrue(self.path.is_symlink())
            self.assertEqual((self.folder / "there" / "b.json").read_text(), contents)
        self.assertEqual(os.listdir(self.folder / "there"), ["b.json"])

    def test_a_folder_that_takes_no_file_has_it_written_in_place(self):
        self.path.write_text("old")
        for call in ("tempfile.mkstemp", "os.replace"):  # the latter in another user's /tmp
            refused = mock.patch(call, side_effect=PermissionError(errno.EPERM, "no"))
            with refused:
                files.write(self.path, call)
            self.assertEqual(self.path.read_text(), call)
            with refused, self.assertRaises(PermissionError):
                files.write(self.folder / "other.json", "new")
            self.assertEqual(self.names(), ["a.json"])

    def test_permissions_stay_and_are_those_of_any_new_file(self):
        mask = os.umask(0o027)
        try:
            files.write(self.path, "new")
        finally:
            os.umask(mask)
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)
        self.path.chmod(0o604)
        files.write(self.path, "newer")
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o604)

    def test_what_is_no_file_is_not_replaced(self):
        with self.assertRaises(IsADirectoryError):
            files.write(self.folder, "new")
        files.write("/dev/null", "new")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        with self.assertRaises(FileNotFoundError):
            files.write(self.folder / "none" / "a.json", "new")

    @unittest.skipIf(os.geteuid() == 0, "root may write to all")
    def test_a_file_that_may_not_be_written_stays(self):
        self.path.write_text("old")
        self.path.chmod(0o444)
        with self.assertRaises(PermissionError):
            files.write(self.path, "new")
        self.assertEqual(self.path.read_text(), "old")


if __name__ == "__main__":
    unittest.main()
