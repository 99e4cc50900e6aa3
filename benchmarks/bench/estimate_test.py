#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is computed from samples, against what is known."""
import random
import statistics
import unittest

from bench import estimate


class Intervals(unittest.TestCase):
    def test_of_few_are_all(self):
        for count in range(1, 6):
            self.assertEqual(estimate.interval(range(count)), (0, count - 1))

    def test_are_those_of_the_tables_of_the_sign_test(self):
        """The ranks, counted from 1, as statistical tables have them."""
        for count, low, high in ((6, 1, 6), (9, 2, 8), (10, 2, 9), (20, 6, 15), (50, 18, 33),
                                 (100, 40, 61)):
            self.assertEqual(estimate.interval(range(1, count + 1)), (low, high), count)

    def test_have_the_median_in_them_as_often_as_they_say(self):
        draw = random.Random(1)
        for count in (7, 20, 101, 1500):
            inside = 0
            for _ in range(400):
                low, high = estimate.interval([draw.expovariate(1) for _ in range(count)])
                inside += low <= 0.6931 <= high
            self.assertGreaterEqual(inside / 400, 0.92, count)

    def test_summary(self):
        data = estimate.summary([3, 1, 2, 5, 4])
        self.assertEqual((data["low"], data["median"], data["high"], data["samples"]), (1, 3, 5, 5))
        self.assertEqual(data["values"], [3, 1, 2, 5, 4])


class LeastSquares(unittest.TestCase):
    def test_line(self):
        start, slope = estimate.line([(size, 45 + 0.129 * size) for size in (1, 64, 1024, 4096)])
        self.assertAlmostEqual(start, 45)
        self.assertAlmostEqual(slope, 0.129)
        self.assertIsNone(estimate.line([(1, 2), (1, 3)]))

    def test_half_power_point(self):
        """The curve of Fast Sockets' table 2, and one with noise."""
        sizes = [2 ** power for power in range(3, 21)]
        most, half = estimate.half_power([(size, 32.9 * size / (441 + size)) for size in sizes])
        self.assertAlmostEqual(most, 32.9, places=6)
        self.assertAlmostEqual(half, 441, places=3)
        draw = random.Random(2)
        most, half = estimate.half_power([(size, 10 * size / (2000 + size) * draw.uniform(0.97, 1.03))
                                          for size in sizes])
        self.assertAlmostEqual(most, 10, delta=0.3)
        self.assertAlmostEqual(half, 2000, delta=300)

    def test_half_power_point_takes_three_sizes(self):
        self.assertIsNone(estimate.half_power([(0, 0), (8, 1), (64, 2)]))

    def test_no_half_power_point_of_a_curve_that_only_rises(self):
        self.assertIsNone(estimate.half_power([(size, size) for size in (8, 64, 256, 1024)]))

    def test_median_is_the_one_in_the_middle(self):
        self.assertEqual(estimate.quantile(sorted([5, 1, 3]), 0.5), statistics.median([5, 1, 3]))


if __name__ == "__main__":
    unittest.main()
