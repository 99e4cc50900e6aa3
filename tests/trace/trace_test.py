#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""trace_test.py BUILD_FOLDER: what unetrun --trace writes of a program whose messages are known."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = ""
ROUNDS = 10


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_traced(self, *options, file="out.json"):
        return subprocess.run([f"{BUILD}/bin/unetrun", *options, "--trace", file,
                               f"{BUILD}/tests/trace"], cwd=self.folder, capture_output=True,
                              text=True, timeout=100, check=False)

    def trace(self, *options):
        done = self.run_traced(*options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads((self.folder / "out.json").read_text())["traceEvents"]

    def of_kind(self, events, category, phase="X"):
        return [event for event in events
                if event.get("cat") == category and event["ph"] == phase]

    def check(self, ranks, *options):
        events = self.trace("-n", str(ranks), *options)
        programs = {event["pid"]: event for event in self.of_kind(events, "program")}
        self.assertEqual(sorted(programs), list(range(ranks)))
        for event in events:
            if event["ph"] == "X":
                whole = programs[event["pid"]]
                self.assertGreaterEqual(event["ts"] + 0.01, whole["ts"], event)
                self.assertLessEqual(event["ts"] + event["dur"], whole["ts"] + whole["dur"] + 0.01,
                                     event)
        self.check_messages(events, ranks)
        self.check_bulk(events, ranks)

    def check_messages(self, events, ranks):
        handled = collections.Counter((event["pid"], event["name"])
                                      for event in self.of_kind(events, "handler"))
        self.assertEqual(handled, {(rank, name): count for rank in range(ranks) for name, count in
                                   (("on_request", ROUNDS), ("on_reply", ROUNDS), ("on_got", 1))})
        sent = {event["id"]: event["ts"] for event in self.of_kind(events, "message", "s")}
        taken = {event["id"]: event["ts"] for event in self.of_kind(events, "message", "f")}
        self.assertEqual(len(sent), ranks * (2 * ROUNDS + 1))
        self.assertEqual(sent.keys(), taken.keys())
        for name, when in taken.items():
            self.assertGreaterEqual(when, sent[name], name)

    def check_bulk(self, events, ranks):
        moved = sorted((event["pid"], event["name"], event["args"]["rank"], event["args"]["bytes"])
                       for event in self.of_kind(events, "bulk"))
        self.assertEqual(moved, sorted((rank, call, (rank + 1) % ranks, 4096)
                                       for rank in range(ranks)
                                       for call in ("bulk_read", "bulk_put")))

    def test_one_rank(self):
        self.check(1)

    def test_ranks_by_windows(self):
        self.check(3)

    def test_ranks_by_messages(self):
        self.check(3, "-x", "SPLITC_WINDOWS=0")

    def test_a_file_that_cannot_be_written(self):
        done = self.run_traced("-n", "2", file="nowhere/out.json")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot write the trace", done.stderr)
        self.assertIn("(unetrun --trace, or SPLITC_TRACE)", done.stderr)
        self.assertIn("No such file or directory", done.stderr)

    def test_a_full_disk(self):
        done = self.run_traced("-n", "2", file="/dev/full")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot write the trace /dev/full: No space left on device; name a file",
                      done.stderr)

    def test_nothing_is_written_unasked(self):
        done = subprocess.run([f"{BUILD}/bin/unetrun", "-n", "2", f"{BUILD}/tests/trace"],
                              cwd=self.folder, capture_output=True, text=True, timeout=100,
                              check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    BUILD = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
