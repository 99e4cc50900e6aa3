#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ip_test.py BUILD_FOLDER: what `dev bench ip` writes, and its tables.  No time is judged."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import figures
import ip
from bench import plots
from bench.hosts import SOURCES

BUILD = ""


def made_up():
    """Results in which each column's figure is its place."""
    rows = list(ip.all_rows(ip.QUICK, ["shm", "udp"]))
    for row in rows:
        row.samples = {column: [1000.0 * (place + 1)] for place, column in enumerate(ip.COLUMNS)}
    return {"rows": [row.as_json() for row in rows]}


class Tables(unittest.TestCase):
    def test_table_3_has_the_paper_s_figures_beside_ours(self):
        first, raw, udp, tcp = figures.layers_table(made_up()).lines
        self.assertEqual(first[2:4], ["today, shm", "today, udp"])
        self.assertEqual(raw[:4], ["Raw AAL5", "65", "2", "2"])
        self.assertEqual(udp[:4], ["UDP", "138", "3", "3"])
        self.assertEqual(tcp[:4], ["TCP", "157", "1", "1"])
        self.assertEqual(tcp[5], f"{8 * 4096:.0f}")  # 4,096 bytes in 1,000 ns

    def test_aims_are_those_of_networks(self):
        rows = {row["name"]: row for row in made_up()["rows"]}
        self.assertEqual(rows["rtt_8_udp"]["verdict"], "pass")
        self.assertEqual(rows["bulk_65536_udp"]["ratio_raw"], 2)
        self.assertEqual(rows["rtt_8_shm"]["aims"], [])

    def test_has_a_picture_of_each_backend(self):
        plt = plots.pyplot()
        if not plt:
            self.skipTest("no matplotlib")
        self.assertEqual([one.name for one in figures.pictures(plt, made_up())],
                         ["ip-shm", "ip-udp"])


class Report(unittest.TestCase):
    def test_has_every_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "ip.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "ip", "--build", BUILD,
                                   "--tiny", "--json", out], capture_output=True, text=True,
                                  timeout=100, check=False)
            data = json.loads(out.read_text())
            self.assertEqual(done.returncode, 1 if data["failures"] else 0,
                             done.stdout + done.stderr)
        # Bare messages over a network may be lost again and again on a machine that is busy.
        lost = [text for text in data["failures"] if text.endswith("what was lost failed")]
        self.assertEqual(data["failures"], lost)
        self.assertEqual([row["name"] for row in data["rows"]],
                         [row.name for row in ip.all_rows(ip.TINY, ip.BACKENDS)])
        for row in data["rows"]:
            for column in ip.COLUMNS:
                if column in row["figures"] or not lost:
                    self.assertGreater(row["figures"][column]["median"], 0, row["name"])
            self.assertIn(row["title"], done.stdout)
        self.assertIn("table 3", done.stdout)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
