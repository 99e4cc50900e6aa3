#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Samples, aims, and the file that keeps them."""
import pathlib
import tempfile
import types
import unittest

from bench import results, runner


class Samples(unittest.TestCase):
    def test_lines_of_limits_are_told_apart(self):
        samples = results.Samples()
        samples.add_lines("ours", "_2", "read 1.5\nraw.read 1e3\nread 2.5\n", 0)
        self.assertEqual(samples.get("ours", "read_2"), [1.5, 2.5])
        self.assertEqual(samples.get("raw", "read_2"), [1000])
        self.assertEqual(samples.median("ours", "read_2"), 2)
        self.assertIsNone(samples.median("ours", "write_2"))

    def test_are_told_apart_by_their_place(self):
        samples = results.Samples()
        for samples.place in ("near", "far"):
            samples.add("ours", "read", len(samples.place))
        self.assertEqual(samples.get("ours", "read"), [4, 3])
        self.assertEqual(samples.get("ours", "read", "far"), [3])

    def test_nonsense_is_refused(self):
        with self.assertRaisesRegex(runner.Failure, "said 'a b c'"):
            results.Samples().add_lines("ours", "", "a b c\n", 0)


class Aims(unittest.TestCase):
    @staticmethod
    def row(aim, ours, **others):
        row = results.Row("x", "x", "ns", [aim])
        samples = results.Samples()
        for who, values in {"ours": ours, **others}.items():
            for ns in values:
                samples.add(who, "x", ns)
        return row.collect(samples)

    def test_compare_medians_with_a_column(self):
        self.assertEqual(self.row(results.at_most(1.5, "raw"), [1, 3, 9], raw=[2]).verdict(), "pass")
        self.assertEqual(self.row(results.at_most(1.4, "raw"), [1, 3, 9], raw=[2]).verdict(), "miss")

    def test_compare_with_the_best_peer(self):
        row = self.row(results.at_most(0.7, "peer"), [10], mpich=[12], ucx=[20])
        self.assertEqual(row.verdict(), "miss")
        self.assertAlmostEqual(row.ratio("peer"), 10 / 12)

    def test_without_anything_to_compare_say_nothing(self):
        self.assertEqual(self.row(results.at_most(0.7, "peer"), [10]).verdict(), "")

    def test_may_be_of_another_column_than_ours(self):
        aim = results.Aim("mpich >= 2x raw", "raw", 0.5, "mpich")
        self.assertEqual(self.row(aim, [9], mpich=[1], raw=[2]).verdict(), "pass")
        self.assertEqual(self.row(aim, [1], mpich=[2], raw=[2]).verdict(), "miss")

    def test_no_time_at_all_is_a_time(self):
        row = self.row(results.at_most_us(1), [0], raw=[0])
        self.assertEqual(row.as_json()["figures"]["ours"]["median"], 0)
        self.assertEqual((row.verdict(), row.ratio("raw")), ("pass", None))

    def test_are_of_near_processors_if_everybody_has_such_samples(self):
        samples = results.Samples()
        for samples.place, who, ns in (("near", "ours", 1), ("far", "ours", 9), ("far", "raw", 5)):
            samples.add(who, "x", ns)
        row = results.Row("x", "x", "ns").collect(samples)
        self.assertEqual((row.samples, row.is_near), ({"ours": [1, 9], "raw": [5]}, False))
        samples.place = "near"
        samples.add("raw", "x", 2)
        row = results.Row("x", "x", "ns").collect(samples)
        self.assertEqual((row.samples, row.as_json()["near"]), ({"ours": [1], "raw": [2]}, True))

    def test_compare_rates(self):
        self.assertEqual(self.row(results.at_least_million(60), [16]).verdict(), "pass")
        self.assertEqual(self.row(results.at_least_million(60), [17]).verdict(), "miss")


class File(unittest.TestCase):
    def test_is_read_as_it_was_written(self):
        options = types.SimpleNamespace(quick=True, peers=[], missing={"ucx": "no gcc"})
        data = results.make("micro", options, 0.5, {"failures": [], "rows": [], "hosts": True})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.json"
            results.write(path, data)
            self.assertEqual(results.read(path), data)
        for name in ("benchmark", "when", "commit", "quick", "machine", "load_before", "load_after",
                     "peers", "missing", "failures", "rows", "hosts"):
            self.assertIn(name, data)


if __name__ == "__main__":
    unittest.main()
