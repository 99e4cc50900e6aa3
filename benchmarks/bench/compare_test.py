#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What compare.py says of two runs."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parent


def around(middle, count=20, seed=1):
    draw = random.Random(seed)
    return [middle * draw.uniform(0.97, 1.03) for _ in range(count)]


def micro_row(title, unit, **everybody):
    return {"title": title, "unit": unit,
            "figures": {who: {"values": values} for who, values in everybody.items()}}


def suite_row(case, ranks, **everybody):
    return {"case": case, "ranks": ranks,
            "figures": {who: {"values": values} for who, values in everybody.items()}}


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, before, after, *options):
        for name, rows in (("a.json", before), ("b.json", after)):
            text = rows if isinstance(rows, str) else json.dumps({"rows": rows})
            (self.folder / name).write_text(text)
        return subprocess.run([sys.executable, BENCH, "compare", "a.json", "b.json", *options],
                              cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)

    def expect(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)

    def test_what_got_slower_is_told_first_with_confidence(self):
        done = self.compare(
            [micro_row("read", "ns", ours=around(100)), micro_row("write", "ns", ours=around(50))],
            [micro_row("read", "ns", ours=around(101, seed=2)),
             micro_row("write", "ns", ours=around(60, seed=3))])
        self.expect(done, 1, "slower     write", "2 cases: 1 slower, 0 faster, 1 as before")
        self.assertTrue(done.stdout.startswith("slower"), done.stdout)

    def test_rates_are_better_when_higher(self):
        done = self.compare([micro_row("one way", "M/s", ours=around(40))],
                            [micro_row("one way", "M/s", ours=around(60, seed=2))])
        self.expect(done, 0, "faster     one way")

    def test_a_slower_machine_is_not_our_fault(self):
        done = self.compare([suite_row("fft", 2, ours=around(1), mpich=around(2))],
                            [suite_row("fft", 2, ours=around(1.5, seed=2),
                                       mpich=around(3, seed=3))])
        self.expect(done, 0, "machine    fft, 2 ranks", "1 where the machine changed")

    def test_each_layer_is_a_case(self):
        done = self.compare(
            [micro_row("latency", "us", unet=around(1), gam=around(2), tcp=around(9))],
            [micro_row("latency", "us", unet=around(1, seed=2), gam=around(3, seed=3),
                       tcp=around(9, seed=4))])
        self.expect(done, 1, "slower     latency, GAM", "2 cases: 1 slower, 0 faster, 1 as before")

    def test_too_few_noisy_samples_prove_nothing(self):
        done = self.compare([suite_row("cg", 4, ours=[1.0, 2.0, 1.5])],
                            [suite_row("cg", 4, ours=[1.6, 1.1, 2.1])], "--all")
        self.expect(done, 0, "as before  cg, 4 ranks")

    def test_cases_of_one_run_only_are_told(self):
        done = self.compare([micro_row("a", "ns", ours=[1]), micro_row("b", "ns", ours=[1])],
                            [micro_row("a", "ns", ours=[1])])
        self.expect(done, 0, "only one of the runs has 'b'")

    def test_other_files_are_refused(self):
        for text in ("", "[]", "{}", '{"rows": [{"title": "x"}]}', '{"rows": 3}'):
            with self.subTest(text=text):
                self.expect(self.compare(text, [micro_row("a", "ns", ours=[1])]), 2,
                            "compare: a.json is no file that")
        self.expect(self.compare([], []), 2, "no case in common")


if __name__ == "__main__":
    unittest.main()
