#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What every benchmark does with its options, and where it writes what it has measured."""
import contextlib
import io
import pathlib
import tempfile
import unittest

from bench import driver


class Nothing(driver.Driver):
    name = "nothing"
    peers = ()
    measured = 0
    breaks = ""  # is made a folder while it measures

    def measure(self, options):
        self.measured += 1
        if self.breaks:
            pathlib.Path(self.breaks).unlink()
            pathlib.Path(self.breaks).mkdir()
        return {"rows": [], "failures": []}

    def tables(self, data):
        return []


class Json(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.nothing = Nothing()

    def run_to(self, path):
        """The exit code, and what is said of the file."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                code = driver.main(self.nothing, ["--json", str(path)])
            except SystemExit as end:
                code = end.code
        return code, [line for line in said.getvalue().splitlines() if "cannot write" in line]

    def test_what_cannot_be_written_is_not_measured_for(self):
        for path, why in ((self.folder / "none" / "a.json", "No such file or directory"),
                          (self.folder, "Is a directory")):
            self.assertEqual(self.run_to(path), (2, [
                f"nothing: cannot write {path}: {why}; name a file in a folder that is there, and that you "
                "may write to (--json)"]))
        self.assertEqual(self.nothing.measured, 0)

    def test_what_can_be_written_is_as_before_until_there_are_results(self):
        path = self.folder / "a.json"
        path.write_text("old")
        driver.parse(self.nothing, ["--json", str(path)])
        self.assertEqual(path.read_text(), "old")
        driver.parse(self.nothing, ["--json", str(self.folder / "new.json")])
        self.assertFalse((self.folder / "new.json").exists())
        self.assertEqual(self.run_to(path), (0, []))
        self.assertIn('"rows": []', path.read_text())

    def test_a_link_that_leads_nowhere_yet_stays(self):
        link = self.folder / "link.json"
        link.symlink_to("a.json")
        driver.parse(self.nothing, ["--json", str(link)])
        self.assertTrue(link.is_symlink())
        self.assertFalse((self.folder / "a.json").exists())
        self.assertEqual(self.run_to(link), (0, []))
        self.assertTrue(link.is_symlink())
        self.assertIn('"rows": []', (self.folder / "a.json").read_text())

    def test_a_file_that_breaks_meanwhile_is_told_in_a_line(self):
        self.nothing.breaks = self.folder / "a.json"
        self.nothing.breaks.write_text("old")
        code, said = self.run_to(self.nothing.breaks)
        self.assertEqual((code, len(said)), (2, 1))
        self.assertIn("Is a directory", said[0])

    def test_options_are_checked_without_measuring(self):
        self.assertEqual(driver.check(self.nothing, ["--quick"]), 0)
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as end:
            driver.check(self.nothing, ["--peers", "foo"])
        self.assertEqual(end.exception.code, 2)
        self.assertEqual(self.nothing.measured, 0)


if __name__ == "__main__":
    unittest.main()
