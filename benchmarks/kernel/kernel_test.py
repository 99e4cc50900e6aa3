#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kernel_test.py: what becomes of what virtual machines write."""
import unittest

import kernel
from bench.hosts import SOURCES

LOG = """noise: round_trip fe 40 1
round_trip fe 40 100000\r
round_trip udp 40 200000\r
round_trip fe 40 300000
round_trip udp 40 1000000
round_trip fe 40 120000
round_trip udp 40 200000
stream fe 1000 50000
section 40 send_read 500 66000
section 40 send_checked 0 0
pins hit 1 100
pins hit 4 110
pins hit 16 120
pins miss 1 5000
pins miss 4 7000
pins miss 16 9000\r
pins miss 16 11000
pins put 1 10000
"""


class Results(unittest.TestCase):
    def setUp(self):
        self.turns = kernel.Turns(LOG)

    def test_lines_of_others_do_not_count(self):
        self.assertEqual(self.turns.ns["round_trip", "fe", 40], [100000, 300000, 120000])

    def test_a_ratio_is_that_of_a_round(self):
        self.assertEqual(self.turns.ratio("fe", "udp"), 0.5)
        self.assertIsNone(self.turns.ratio("fe", "tcp"))

    def test_aims(self):
        self.assertEqual(list(self.turns.aims()),
                         [{"aim": "fe/udp <= 0.55", "ratio": 0.5, "met": True}])

    def test_rows_have_units(self):
        trip, stream = kernel.rows_of("tulip", self.turns)
        self.assertEqual(trip["figures"]["ours"]["median"], 120)
        self.assertEqual(trip["figures"]["udp"]["values"], [200, 1000, 200])
        self.assertEqual(stream["figures"]["ours"]["median"], 20)
        self.assertEqual(stream["unit"], "MB/s")

    def test_sections_are_means(self):
        self.assertEqual(kernel.sections_of(LOG), {"40": {"send_read": 132}})

    def test_pins_are_medians_of_rounds(self):
        found = kernel.pins_of(LOG)
        self.assertEqual(found["miss_16"], 10000)
        lines = list(kernel.pins_table(found))
        self.assertIn(["miss and pinning, us", "5", "7", "10"], lines)
        self.assertEqual(lines[-1][2], "pass")
        self.assertEqual(list(kernel.pins_table({**found, "put_1": 4000}))[-1][2], "miss")

    def test_every_section_of_the_module_has_a_title(self):
        source = SOURCES.parent / "unet-backends" / "fe" / "module" / "timing.c"
        for line in source.read_text(encoding="utf-8").splitlines():
            if "] = \"" in line:
                self.assertIn(line.split('"')[1], kernel.SECTIONS)

    def test_go_into_tables(self):
        """Also where no machine has written anything."""
        for log in (LOG, ""):
            turns = kernel.Turns(log)
            data = {"rows": list(kernel.rows_of("tulip", turns)),
                    "sections": kernel.sections_of(log),
                    "pins": kernel.pins_of(log),
                    "sends": {name: turns.ns["send", name, 40] for name in kernel.METHODS}}
            for table in kernel.DRIVER.tables(data):
                self.assertEqual({len(line) for line in table.lines}, {len(table.lines[0])})


if __name__ == "__main__":
    unittest.main()
