#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""micro_test.py BUILD_FOLDER: what `dev bench micro` writes, and what becomes of peers that
fail.

No time is judged: the machine may be busy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import micro
from bench.hosts import SOURCES

BUILD = ""


def run_micro(*options, tools=None):
    """Exit code, messages and what the JSON says."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "micro.json"
        environment = dict(os.environ)
        if tools:
            environment["PATH"] = f"{tools}:{environment['PATH']}"
        done = subprocess.run([sys.executable, SOURCES / "bench", "micro", "--build", BUILD, "--tiny",
                               "--json", out, *options], env=environment, capture_output=True,
                              text=True, timeout=110, check=False)
        return done, json.loads(out.read_text()) if out.exists() else None


def write_tool(folder, name, script):
    path = pathlib.Path(folder) / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


class Report(unittest.TestCase):
    def test_has_every_figure_of_ours(self):
        done, data = run_micro("--peers", "none")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(data["failures"], [])
        self.assertEqual(data["peers"], {})
        self.assertGreater(data["machine"]["cores"], 0)
        names = [row["name"] for row in data["rows"]]
        self.assertEqual(names, [row.name for row in micro.all_rows(micro.TINY)])
        for row in data["rows"]:
            with self.subTest(row=row["name"]):
                mine = row["figures"]["ours"]
                self.assertLessEqual(mine["p10"], mine["median"])
                self.assertLessEqual(mine["median"], mine["p90"])
                self.assertEqual(len(mine["values"]), mine["samples"])
                self.assertGreater(mine["p10"], 0)
                for aim in row["aims"]:
                    self.assertIn(aim["met"], (True, False, None))
                self.assertIn(row["title"], done.stdout)

    def test_knows_a_limit_for_every_access(self):
        _, data = run_micro("--peers", "none")
        for row in data["rows"]:
            if row["name"].split("_")[0] in ("read", "write", "get", "put", "store", "bulk", "am"):
                self.assertGreater(row["figures"]["raw"]["median"], 0, row["name"])
                self.assertGreater(row["ratio_raw"], 0, row["name"])


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools = folder.name

    def test_that_do_not_build_are_named(self):
        write_tool(self.tools, "mpicc.mpich", "echo no such header >&2; exit 1\n")
        write_tool(self.tools, "mpiexec.hydra", "echo 9.9.9\n")
        done, data = run_micro("--peers", "mpich", tools=self.tools)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no such header", data["missing"]["mpich"])
        self.assertIn("without mpich", done.stderr)

    def test_that_fail_are_named_and_left_out(self):
        write_tool(self.tools, "mpicc.mpich", "exit 0\n")
        write_tool(self.tools, "mpiexec.hydra",
                   "[ $1 = --version ] && echo 9.9.9 && exit; echo no way >&2; exit 3\n")
        done, data = run_micro("--peers", "mpich", tools=self.tools)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(data["peers"], {"mpich": "9.9.9"})
        self.assertIn("mpich, allocation: no way", data["failures"])
        self.assertNotIn("mpich", data["rows"][0]["figures"])
        self.assertIn("ours", data["rows"][0]["figures"])

    def test_nobody_knows_are_refused(self):
        done, data = run_micro("--peers", "mpich,pvm")
        self.assertEqual(done.returncode, 2)
        self.assertIn("pvm", done.stderr)
        self.assertIsNone(data)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
