#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""vmmc_test.py BUILD_FOLDER: what `dev bench vmmc` writes.  No time is judged."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import utlb
import vmmc
import vmmc_figures as figures
from bench.hosts import SOURCES
from bench.results import Samples

BUILD = ""


class Report(unittest.TestCase):
    def test_has_every_figure_beside_its_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "vmmc.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "vmmc", "--build", BUILD,
                                   "--tiny", "--backend", "shm", "--json", out],
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = json.loads(out.read_text())
        self.assertEqual(data["failures"], [])
        self.assertEqual([row["name"] for row in data["rows"]],
                         [row.name for row in [*vmmc.all_rows(vmmc.TINY, ["shm"]), *utlb.rows()]])
        for row in data["rows"]:
            hit = row["name"].startswith("utlb_hit")  # beside which there is no limit
            for who in ["ours"] if hit else ["ours", "raw"]:
                self.assertGreater(row["figures"][who]["median"], 0, row["name"])
        self.assertEqual([one["size"] for one in data["full"]], vmmc.TINY.sizes)
        for one in data["full"]:
            self.assertTrue(0 <= one["percent"] <= 100, one)
        self.assertEqual([(one["metric"], one["size"]) for one in data["shapes"]],
                         [(metric, size) for metric, columns in figures.METRICS.items() for size in
                          (vmmc.TINY.streams if "raw" in columns else vmmc.TINY.logp)])

    def test_tells_what_redirection_can_save(self):
        samples = Samples()
        for who, metric, ns in (("ours", "copy_65536_udp", 2000), ("raw", "pingpong_65536_udp", 44000)):
            samples.add(who, metric, ns)
        found = list(vmmc.possible(samples, vmmc.TINY, ["udp", "eth"]))
        self.assertEqual(found, [{"backend": "udp", "size": 65536, "copy_us": 2.0, "ratio": 1.1}])
        self.assertEqual(list(vmmc.possible_table({"possible": found}))[1], ["64 KiB, udp", "2.00", "1.10"])

    def test_every_figure_shows_what_is_measured(self):
        for number, figure in figures.FIGURES.items():
            for curve in figure.curves:
                self.assertIn(curve.who, figures.METRICS[curve.metric], number)

    def test_puts_plain_messages_beside_reliable_ones(self):
        samples = Samples()
        for who, metric, ns in (("ours", "half_8_udp", 5000), ("plain", "rtt_8_udp", 8000),
                                ("ours", "gap_65536_udp", 65536), ("plain", "bulk_65536_udp", 32768)):
            samples.add(who, metric, ns)
        effort = vmmc.Effort(logp=[8, 65536], streams=[8])
        data = {"shapes": figures.shapes(samples, effort, ["udp"]),
                "plain": figures.plain_medians(samples, ["shm", "udp"])}
        latency, stream, *others = list(figures.table_2(data))[1:]
        self.assertEqual(latency[-2:], ["5", "4"])
        self.assertEqual(stream[-2:], ["1e+03", "2e+03"])
        for line in others:
            self.assertEqual(line[-2:], ["-", "-"])

    def test_says_what_part_of_a_put_a_hit_is(self):
        samples = Samples()
        for who, metric, ns in (("ours", "utlb_hit_1", 10), ("raw", "pingpong_4096_udp", 2000),
                                ("raw", "pingpong_4096_eth", 400)):
            samples.add(who, metric, ns)
        lines = list(utlb.shares_table(utlb.shares(samples, ["udp", "eth", "shm"])))
        self.assertEqual([line[0] for line in lines[1:]], ["udp", "eth"])
        self.assertEqual([line[-1] for line in lines[1:]], ["pass", "miss"])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
