#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_test.py BUILD_FOLDER: what `dev bench net` writes, and what it computes.

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

import net
from bench import peers
from bench.hosts import SOURCES, Hosts
from bench.results import Row, Samples

BUILD = ""


def rows_of(rates):
    """Rows of streams over udp: GB/s by size."""
    rows = []
    for size, rate in rates.items():
        row = Row(f"stream_{size}_udp", "", "GB/s", size=size)
        row.samples = {"ours": [size / rate]}
        rows.append(row)
    return rows


class Summary(unittest.TestCase):
    def test_half_power_lies_between_two_sizes(self):
        self.assertEqual(net.half_power(rows_of({100: 1, 300: 3, 1000: 4}), "udp"), 200)

    def test_half_power_may_be_below_the_first_size(self):
        self.assertEqual(net.half_power(rows_of({100: 4, 300: 4}), "udp"), 50)

    def test_there_is_none_without_streams(self):
        self.assertIsNone(net.half_power([], "udp"))

    def test_what_stays_under_loss(self):
        rows = rows_of({net.LOSSY_SIZE: 4})
        lossy = Row(f"stream_{net.LOSSY_SIZE}_lossy", "", "GB/s", size=net.LOSSY_SIZE)
        lossy.samples = {"ours": [net.LOSSY_SIZE / 3]}
        self.assertEqual(net.kept_under_loss(rows + [lossy]), 75)
        self.assertIsNone(net.kept_under_loss(rows))


class Puts(unittest.TestCase):
    """Who is compared with whom."""

    def verdict(self, ours, mpich, ucx):
        samples = Samples()
        samples.add("ours", f"put_{net.BULK}_udp", ours)
        samples.add("mpich", f"put_{net.BULK}", mpich)
        samples.add("ucx", f"put_{net.BULK}", ucx)
        row = next(row for row in net.all_rows(net.TINY, ["udp"])
                   if row.name == f"put_{net.BULK}_udp")
        return row.collect(samples).verdict()

    def test_the_best_peer_is_the_measure(self):
        self.assertEqual(self.verdict(65, 100, 120), "pass")
        self.assertEqual(self.verdict(66, 100, 120), "miss")
        self.assertEqual(self.verdict(65, 120, 99), "miss")

    def test_everybody_is_in_each_turn(self):
        options = types.SimpleNamespace(effort=net.TINY, backends=["udp", "eth", "ni"],
                                        build=pathlib.Path(BUILD), peers=list(peers.ALL.values()))
        steps = list(net.puts_plan(options, Hosts(), Samples()))
        self.assertEqual(sorted((step.who, step.what) for step in steps),
                         sorted([("ours", "puts over udp"), ("ours", "puts over eth"),
                                 ("raw", "puts over TCP")] +
                                [(name, "puts over TCP") for name in peers.NAMES]))
        for step in steps:
            self.assertEqual(step.command[-3:], [str(size) for size in net.PUTS])

    def test_peers_put_as_well(self):
        """Their programs look whether what was put has arrived."""
        for peer in peers.ALL.values():
            if peer.missing() or (peer.name in peers.MPIS and not peer.has_headers()):
                print(f"left out: {peer.title}: it is not installed")
                continue
            with self.subTest(peer=peer.name), tempfile.TemporaryDirectory() as folder:
                program = pathlib.Path(folder) / peer.name
                why = peer.compile(program, *(f"peers/{name}" for name in peer.sources))
                if why and peer.name not in peers.MPIS:
                    print(f"left out: {peer.title}: {why}")
                    continue
                self.assertIsNone(why)
                here = Hosts()  # without its context: this machine
                try:
                    done = subprocess.run(peer.between_hosts(here, program, "puts", "1", "16384"),
                                          capture_output=True, text=True, timeout=60, check=False)
                except subprocess.TimeoutExpired:  # MPICH sometimes waits for ever to be connected
                    print(f"left out: {peer.title}: it does not end within 60 s")
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual({line.split()[0] for line in done.stdout.splitlines()},
                                 {"put_16384", "exchange_16384"})


class Report(unittest.TestCase):
    def test_has_every_figure_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "net.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "net", "--build", BUILD,
                                   "--tiny", "--peers", "none", "--json", out],
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = json.loads(out.read_text())
        self.assertEqual(data["failures"], [])
        self.assertEqual(data["hosts"], os.geteuid() == 0)
        self.assertGreater(data["half_power_bytes_udp"], 0)
        names = [row["name"] for row in data["rows"]]
        self.assertEqual(names, [row.name for row in net.all_rows(net.TINY, net.BACKENDS)])
        for row in data["rows"]:
            if row["name"].endswith("_lossy"):
                continue  # not everywhere can packets be lost at will
            with self.subTest(row=row["name"]):
                for column in ("ours", "raw"):
                    if column in row["figures"] or not row["name"].startswith("am_one_way"):
                        self.assertGreater(row["figures"][column]["p10"], 0)
                self.assertIn(row["title"], done.stdout)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
