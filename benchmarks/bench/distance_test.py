#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where programs run, by programs that say what core_distance might."""
import pathlib
import tempfile
import types
import unittest

from bench import distance, results


class Distance(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "bin").mkdir()

    def say(self, script):
        """The program is this script from now on."""
        program = self.build / "bin" / "core_distance"
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        program.chmod(0o755)
        return program

    def test_is_near_or_far(self):
        self.assertEqual(distance.place(self.say("echo 100")), "near")
        self.assertEqual(distance.place(self.say("echo 500")), "far")

    def test_is_not_known_of_one_processor_or_without_the_program(self):
        self.assertIsNone(distance.place(self.say("exit 0")))
        self.assertIsNone(distance.place(self.say("exit 1")))
        self.assertIsNone(distance.place("/no/such/program"))

    def test_is_kept_with_each_sample_and_counted(self):
        samples = results.Samples()
        effort = types.SimpleNamespace(limit=100, each=50)
        one = distance.PlacedRunner("test", types.SimpleNamespace(build=self.build, effort=effort),
                                    samples)
        one.show = lambda *_: None
        moved = f"echo x 3; printf '#!/bin/sh\\necho 500\\n' > {self.build}/bin/core_distance"
        self.say("echo 100")
        one.run([samples.step("ours", "x", ["echo", "x 1"]),
                 samples.step("ours", "x", ["sh", "-c", moved]),
                 samples.step("ours", "x", ["echo", "x 2"])])
        self.assertEqual(one.failures, [])
        self.assertEqual({place: samples.get("ours", "x", place) for place in
                          ("near", "mixed", "far")}, {"near": [1], "mixed": [3], "far": [2]})
        self.assertIn("in 1 of 3 runs", one.note())

    def test_says_nothing_where_nothing_is_known(self):
        samples = results.Samples()
        effort = types.SimpleNamespace(limit=100, each=50)
        one = distance.PlacedRunner("test", types.SimpleNamespace(build=self.build, effort=effort),
                                    samples)
        self.assertEqual(one.note(), "")


if __name__ == "__main__":
    unittest.main()
