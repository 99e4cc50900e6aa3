#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""curves_test.py BUILD_FOLDER: what `dev bench curves` writes, and what becomes of it.

No time is judged: the machine may be busy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import curves
from bench import peers, runner
from bench.hosts import SOURCES, Hosts

BUILD = pathlib.Path()


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as out:
            path = pathlib.Path(out) / "curves.json"
            cls.done = subprocess.run([sys.executable, SOURCES / "bench", "curves", "--build",
                                       BUILD, "--tiny", "--peers", "none", "--json", path],
                                      capture_output=True, text=True, timeout=240, check=False)
            cls.data = json.loads(path.read_text()) if path.exists() else None
        cls.networks = ["shm", "udp", "eth"] if os.geteuid() == 0 else ["shm", "udp"]

    def setUp(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def test_has_every_layer_of_ours(self):
        self.assertEqual(self.data["failures"], [])
        sizes = {(row["network"], row["what"]): set() for row in self.data["rows"]}
        for row in self.data["rows"]:
            for who in row["figures"]:
                sizes[row["network"], row["what"]].add((who, row.get("size")))
        for network in self.networks:
            for size in (8, 1024, 65536):
                for who in ("unet", "gam", "splitc"):
                    if who == "unet" and size > 1024 and network != "shm":
                        continue  # no packet is so long
                    for what in ("latency", "bandwidth"):
                        self.assertIn((who, size), sizes[network, what], (network, what))
            self.assertIn(("gam", 0), sizes[network, "latency"])
            self.assertNotIn(("splitc", 0), sizes[network, "latency"])

    def test_figures_are_positive_and_within_their_intervals(self):
        for row in self.data["rows"]:
            for who, figure in row["figures"].items():
                with self.subTest(row=row["name"], who=who):
                    self.assertGreater(figure["low"], 0)
                    self.assertLessEqual(figure["low"], figure["median"])
                    self.assertLessEqual(figure["median"], figure["high"])

    def test_prints_what_the_osu_benchmarks_do(self):
        for network in self.networks:
            self.assertIn(f"# Latency over {network} (us)", self.done.stdout)
            self.assertIn(f"# Bandwidth over {network} (MB/s)", self.done.stdout)
        self.assertRegex(self.done.stdout, r"# Size +U-Net +GAM +Split-C store\n")

    def test_knows_loggp_and_fits_of_every_network(self):
        self.assertEqual([one["network"] for one in self.data["loggp"]], self.networks)
        for one in self.data["loggp"]:
            self.assertAlmostEqual(one["L"] + one["o_s"] + one["o_r"], one["round_trip"] / 2)
        fitted = {(fit["network"], fit["who"]) for fit in self.data["fits"]}
        for network in self.networks:
            self.assertLessEqual({(network, who) for who in ("unet", "gam", "splitc")}, fitted)

    def test_goes_into_tables(self):
        for table in curves.DRIVER.tables(self.data):
            with self.subTest(table=table.title):
                self.assertGreater(len(table.lines), 1)
                self.assertEqual({len(line) for line in table.lines}, {len(table.lines[0])})


class Options(unittest.TestCase):
    def test_unknown_backends_are_refused(self):
        done = subprocess.run([sys.executable, SOURCES / "bench", "curves", "--backend", "shm,atm"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no backend 'atm'", done.stderr)


@unittest.skipIf(subprocess.run(["pkg-config", "--exists", "ucx"], check=False).returncode,
                 "left out: there is no UCX (Debian: libucx-dev)")
class Ucx(unittest.TestCase):
    def test_has_every_size(self):
        with tempfile.TemporaryDirectory() as folder:
            options = types.SimpleNamespace(build=pathlib.Path(folder), effort=curves.TINY,
                                            peers=[peers.ALL["ucx"]])
            self.assertIsNone(curves.DRIVER.build_peer(peers.ALL["ucx"], options))
            command = dict(curves.commands("shm", options, Hosts()))["ucx"]
            network = curves.Network("shm", curves.TINY.sizes)
            network.samples.step("ucx", "shm", command).take(*runner.run(command, 60))
        for size in curves.TINY.sizes:
            for what in ("round_trip", "stream"):
                self.assertTrue(network.get("ucx", what, size), (what, size))


class Rows(unittest.TestCase):
    def test_have_the_layers_apart(self):
        network = curves.Network("shm", [8, 1024])
        for metric, ns in (("unet_round_trip_8", 300), ("gam_stream_1024", 512),
                           ("am_round_trip", 7)):
            network.samples.add("layers", metric, ns)
        rows = {row["name"]: row["figures"] for row in network.rows()}
        self.assertEqual(rows["shm_round_trip_8"]["unet"]["median"], 0.15)
        self.assertEqual(rows["shm_stream_1024"]["gam"]["median"], 2000)
        self.assertEqual(len(rows), 2)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=2)
