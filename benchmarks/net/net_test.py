#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_test.py BUILD_FOLDER: what `dev bench net` writes, and what it computes.

No time is judged: the machine may be busy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import net
from bench.hosts import SOURCES
from bench.results import Row

BUILD = ""


def rows_of(rates):
    """Rows of streams over udp: GB/s by size."""
    rows = []
    for size, rate in rates.items():
        row = Row(f"stream_{size}_udp", "", "GB/s", size=size)
        row.samples = {"ours": [size / rate]}
        rows.append(row)
    return rows


class Summary(unittest.TestCase):
    def test_half_power_lies_between_two_sizes(self):
        self.assertEqual(net.half_power(rows_of({100: 1, 300: 3, 1000: 4}), "udp"), 200)

    def test_half_power_may_be_below_the_first_size(self):
        self.assertEqual(net.half_power(rows_of({100: 4, 300: 4}), "udp"), 50)

    def test_there_is_none_without_streams(self):
        self.assertIsNone(net.half_power([], "udp"))

    def test_what_stays_under_loss(self):
        rows = rows_of({net.LOSSY_SIZE: 4})
        lossy = Row(f"stream_{net.LOSSY_SIZE}_lossy", "", "GB/s", size=net.LOSSY_SIZE)
        lossy.samples = {"ours": [net.LOSSY_SIZE / 3]}
        self.assertEqual(net.kept_under_loss(rows + [lossy]), 75)
        self.assertIsNone(net.kept_under_loss(rows))


class Report(unittest.TestCase):
    def test_has_every_figure_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "net.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "net", "--build", BUILD,
                                   "--tiny", "--peers", "none", "--json", out],
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = json.loads(out.read_text())
        self.assertEqual(data["failures"], [])
        self.assertEqual(data["hosts"], os.geteuid() == 0)
        self.assertGreater(data["half_power_bytes_udp"], 0)
        names = [row["name"] for row in data["rows"]]
        self.assertEqual(names, [row.name for row in net.all_rows(net.TINY, net.BACKENDS)])
        for row in data["rows"]:
            if row["name"].endswith("_lossy"):
                continue  # not everywhere can packets be lost at will
            with self.subTest(row=row["name"]):
                for column in ("ours", "raw"):
                    if column in row["figures"] or not row["name"].startswith("am_one_way"):
                        self.assertGreater(row["figures"][column]["p10"], 0)
                self.assertIn(row["title"], done.stdout)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
