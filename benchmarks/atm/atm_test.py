#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""atm_test.py BUILD_FOLDER: what `dev bench atm` writes, and what it computes.

No time is judged: the machine may be busy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import atm
from bench.hosts import SOURCES

BUILD = ""


def row(what, size, **medians):
    return {"what": what, "size": size,
            "figures": {who: {"median": value} for who, value in medians.items()}}


class Ratios(unittest.TestCase):
    def ours(self, rows):
        return {(what, where): ours for what, where, _, ours in atm.ratios(rows)}

    def test_a_cell_has_40_bytes_of_pdu(self):
        self.assertEqual(atm.last_of_cells(1), 36)
        self.assertEqual(atm.last_of_cells(2), 84)
        self.assertIn(36, atm.QUICK.sizes)
        self.assertIn(37, atm.QUICK.sizes)

    def test_are_of_what_was_measured(self):
        found = self.ours([row("round_trip", 36, atm=10, atm_am=12, ni=9, eth=5),
                           row("round_trip", 37, atm=15), row("round_trip", 84, atm=16, eth=6),
                           row("round_trip", 1400, atm=16 + 1316 * 0.5, eth=6 + 1316),
                           row("stream", 4096, atm=100, atm_am=90)])
        self.assertEqual([ours for (what, _), ours in found.items() if "second cell" in what], [1.5])
        self.assertAlmostEqual(found["each further cell, to the round trip of 1", "S fig. 3"],
                               48 * 0.5 / 10)
        self.assertIn(1.2, found.values())  # active messages
        self.assertIn(0.9, found.values())  # their bandwidth
        self.assertIn(1.8, found.values())  # the co-processor
        self.assertIn(2.0, found.values())  # Ethernet
        self.assertIn(0.5, found.values())  # and each further byte

    def test_programs_are_compared_with_the_same_program(self):
        found = self.ours([row("round_trip", 36, atm=100, ip_unet=10, ip_udp=15, ip_tcp=20)])
        self.assertIn(1.5, found.values())
        self.assertIn(2.0, found.values())

    def test_a_lost_datagram_is_no_failure_of_the_benchmark(self):
        self.assertTrue(atm.lost_datagram("ip_udp, x udp atm: ip_bench: receiving what was lost failed"))
        self.assertFalse(atm.lost_datagram("ip_udp, x udp atm: ip_bench: sending failed"))
        self.assertFalse(atm.lost_datagram("ip_tcp, x tcp atm: ip_bench: receiving what was lost failed"))

    def test_where_cores_are_few_a_note_says_so(self):
        self.assertIn("waiting for a core", atm.note({"machine": {"cores": 2}}))
        self.assertEqual(atm.note({"machine": {"cores": 3}}), atm.NOTE)

    def test_of_what_was_not_measured_there_are_none(self):
        self.assertEqual(set(self.ours([]).values()), {None})

    def test_a_line_that_falls_has_no_slope(self):
        medians = atm.Medians([row("round_trip", 84, atm=9), row("round_trip", 1400, atm=8)])
        self.assertIsNone(medians.slope("atm", 84, 1400))


class Report(unittest.TestCase):
    def test_has_everybody(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "atm.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "atm", "--build", BUILD,
                                   "--tiny", "--json", out],
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = json.loads(out.read_text())
        self.assertEqual(data["failures"], [])
        wanted = {"atm", "atm_am", "ni", "ni_am", "udp", "tcp"}
        if os.geteuid() == 0:
            wanted |= {"eth", "eth_am"}
        for what in "round_trip", "stream":
            for size in 36, 37, 1024:
                with self.subTest(what=what, size=size):
                    figures = next(one["figures"] for one in data["rows"]
                                   if (one["what"], one["size"]) == (what, size))
                    # Streams of UDP are not measured: what the kernel drops does not come back.
                    here = wanted - ({"udp"} if what == "stream" else set())
                    self.assertLessEqual(here, set(figures))
                    self.assertTrue(all(figure["p10"] > 0 for figure in figures.values()))
        self.assertEqual(len(data["ratios"]), len(list(atm.ratios([]))))
        self.assertIn("ratios beside the papers' own", done.stdout)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
