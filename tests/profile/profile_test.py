#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""profile_test.py BUILD_FOLDER: what unetrun --profile tells of a program whose accesses are known."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent / "profile.sc"
BUILD = ""
RANKS = 3
ROUNDS = 100


def line_of(mark):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
                if f"/* {mark} */" in line)


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def compiled(self, *options):
        program = self.folder / ("profile" + "".join(options).replace("/", "_"))
        done = subprocess.run([f"{BUILD}/bin/splitcc", "-O1", *options, SOURCE, "-o", program],
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return program

    def run_profiled(self, program, *options):
        return subprocess.run([f"{BUILD}/bin/unetrun", "-n", str(RANKS), *options, program],
                              capture_output=True, text=True, timeout=100, check=False)

    def table(self, text):
        """(what, line): [seconds, waits, remote, bytes, local]."""
        rows = {}
        for line in text.splitlines():
            found = re.fullmatch(r"splitc: +([\d.]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\S+) +(.*?)"
                                 r"(?::(\d+))?", line)
            if found and found[8]:
                self.assertEqual(pathlib.Path(found[7]).name, "profile.sc")
                rows[found[6], int(found[8])] = [float(found[1]), *map(int, found.groups()[1:5])]
        return rows

    def check(self, *options, compiled=("-fprofile-lines",)):
        done = self.run_profiled(self.compiled(*compiled), "--profile", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.table(done.stderr)
        everywhere = RANKS * ROUNDS
        expected = {("write", "WRITE"): [everywhere, 4 * everywhere, 0],
                    ("read", "READ"): [everywhere, 4 * everywhere, 0],
                    ("read", "TWICE"): [2 * everywhere, 8 * everywhere, 0],
                    ("write", "FIELD"): [everywhere - ROUNDS, 4 * (everywhere - ROUNDS), ROUNDS],
                    ("change", "CHANGE"): [everywhere, 4 * everywhere, 0],
                    ("get", "GET"): [RANKS, 4 * RANKS, 0],
                    ("put", "PUT"): [RANKS, 4 * RANKS, 0],
                    ("store", "STORE"): [RANKS, 4 * RANKS, 0],
                    ("bulk_read", "BULK"): [RANKS, 128 * RANKS, 0]}
        for (what, mark), counts in expected.items():
            with self.subTest(mark):
                self.assertIn((what, line_of(mark)), rows, done.stderr)
                self.assertEqual(rows[what, line_of(mark)][2:], counts)
        self.assertNotIn(("write", line_of("MINE")), rows)
        self.assertIn(("team_allgather", line_of("GATHER")), rows, done.stderr)
        return rows

    def test_by_windows(self):
        self.check()

    def test_by_messages_waits_are_charged_to_their_lines(self):
        rows = self.check("-x", "SPLITC_WINDOWS=0")
        for what, mark in (("write", "WRITE"), ("read", "READ"), ("bulk_read", "BULK")):
            seconds, waits, remote, *_ = rows[what, line_of(mark)]
            self.assertEqual(waits, remote, mark)
            self.assertGreater(seconds, -1e-9, mark)
        self.assertGreater(rows["read", line_of("TWICE")][0], 0)

    def test_together_with_checks(self):
        self.check(compiled=("-fprofile-lines", "-fcheck"))

    def test_silent_unless_asked(self):
        done = self.run_profiled(self.compiled("-fprofile-lines"))
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_a_program_compiled_without_is_refused(self):
        done = self.run_profiled(self.compiled(), "--profile")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("compile the program with splitcc -fprofile-lines", done.stderr)


if __name__ == "__main__":
    BUILD = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
