#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How programs are started and ended, and which are not."""
import unittest
import unittest.mock

from bench import runner


class Commands(unittest.TestCase):
    def test_tell_what_they_print_and_their_time(self):
        out, ns = runner.run(["echo", "42"], 60)
        self.assertEqual(out, "42\n")
        self.assertGreater(ns, 0)

    def test_are_ended_when_they_take_too_long(self):
        with self.assertRaisesRegex(runner.TimedOut, "not done after"):
            runner.run(["sh", "-c", "sleep 100 & wait"], 0.2)

    def test_say_why_they_fail(self):
        for script, why in (("echo no way >&2; exit 3", "no way"), ("exit 3", "exit code 3")):
            with self.assertRaisesRegex(runner.Failure, why):
                runner.run(["sh", "-c", script], 60)


class Plans(unittest.TestCase):
    """By a clock that only programs move on: each takes the seconds that it prints."""

    def run_all(self, seconds, commands, show=lambda *_: None):
        clock, taken = [0.0], []

        def run(command, limit):
            clock[0] += min(command[0], limit)
            if command[0] > limit:
                raise runner.TimedOut(f"not done after {limit} s")
            if command[0] == 0:
                raise runner.Failure("no way")
            return str(command[0]), 0

        with unittest.mock.patch.object(runner, "run", run), \
                unittest.mock.patch.object(runner.time, "monotonic", lambda: clock[0]):
            one = runner.Runner("test", seconds, 10)
            one.show = show
            one.run(runner.Step(who, "sleep", [each], lambda text, _: taken.append(float(text)))
                    for who, each in commands)
        return taken, one.failures

    def test_run_in_their_order(self):
        self.assertEqual(self.run_all(100, [("a", 1), ("b", 2), ("a", 3)]), ([1, 2, 3], []))

    def test_who_fails_is_not_tried_again(self):
        self.assertEqual(self.run_all(100, [("a", 0), ("b", 2), ("a", 3)]),
                         ([2], ["a, sleep: no way"]))

    def test_who_does_not_end_is_not_tried_again(self):
        self.assertEqual(self.run_all(100, [("a", 11), ("a", 3)]),
                         ([], ["a, sleep: not done after 10 s"]))

    def test_nothing_is_started_after_the_deadline(self):
        self.assertEqual(self.run_all(5, [("a", 4), ("b", 2), ("c", 1)]),
                         ([4, 2], ["c, sleep: no time was left"]))

    def test_what_is_left_is_told(self):
        told = []
        self.run_all(100, [("a", 4), ("b", 2), ("c", 9), ("a", 4), ("b", 2)],
                     lambda text, left, _: told.append(left))
        # c is not known when a has taken 4, nor when b has taken 2; no text comes last.
        self.assertEqual(told, [None, 4 * 4, 3 + 4 + 2, 4 + 2, 2, None])

    def test_no_more_is_left_than_until_the_deadline(self):
        told = []
        self.run_all(10, [("a", 4), ("a", 4), ("a", 4)], lambda text, left, _: told.append(left))
        self.assertEqual(told, [None, 6, 2, None])


if __name__ == "__main__":
    unittest.main()
