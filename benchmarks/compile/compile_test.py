#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compile_test.py BUILD_FOLDER: the sources, and what is measured of one.

No time is judged: the machine may be busy.
"""
import pathlib
import re
import sys
import unittest

import compile as benchmark
from bench import runner

BUILD = pathlib.Path()


class Sources(unittest.TestCase):
    def module(self, lines):
        return benchmark.module_source(BUILD / "test" / "random_splitc", lines)

    def test_have_as_many_lines_as_asked_for(self):
        for lines in (100, 1000, 3000):
            self.assertAlmostEqual(self.module(lines).count("\n"), lines, delta=0.12 * lines)
        table = "".join(benchmark.table_source(1000))
        self.assertAlmostEqual(table.count("\n"), 1000, delta=40)

    def test_are_always_the_same(self):
        self.assertEqual(self.module(500), self.module(500))
        self.assertEqual(*("".join(benchmark.table_source(500)) for _ in range(2)))

    def test_define_nothing_twice(self):
        defined = re.findall(r"^(?:static )?(?:int|struct) (\w+)(?:\(| \{)", self.module(3000),
                             re.MULTILINE)
        self.assertGreater(len(defined), 10)
        self.assertEqual(len(defined), len(set(defined)))


class Costs(unittest.TestCase):
    def measure(self, *texts):
        return benchmark.DRIVER.measure_sources(BUILD / "bin" / "splitcc",
                                                [("programs", text, 2) for text in texts])

    def test_of_a_module_and_a_table(self):
        data = self.measure(benchmark.module_source(BUILD / "test" / "random_splitc", 300),
                            "".join(benchmark.table_source(500)))
        self.assertEqual(data["failures"], [])
        for row in data["rows"]:
            self.assertGreater(row["cc_s"], 0)
            self.assertGreater(row["splitcc_mb"], 1)
            self.assertEqual(row["unit"], "s")
            self.assertEqual(row["figures"]["cc"]["samples"], 2)
        lines = benchmark.DRIVER.tables(data)[0].lines
        self.assertEqual([len(line) for line in lines], 3 * [len(lines[0])])

    def test_of_what_is_started_count_and_nothing_else(self):
        """A process that has 64 MB, and one that is started by a large one."""
        def megabytes(*command):
            return benchmark.usage(runner.run(benchmark.metered(command), 60)[0])[1]
        self.assertGreater(megabytes("sh", "-c", "head -c 64M /dev/zero | tail -c 64M | wc -c >&2"),
                           60)
        ballast = bytearray(128 << 20)
        self.assertLess(megabytes("true"), 40)
        self.assertEqual(len(ballast), 128 << 20)

    def test_of_what_fails_are_none(self):
        data = self.measure("#error nonsense\n", "int x;\nint y;\n")
        self.assertIn("preprocessing, programs, 1 lines: ", data["failures"][0])
        self.assertIn("nonsense", data["failures"][0])
        self.assertEqual([row["lines"] for row in data["rows"]], [2])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
