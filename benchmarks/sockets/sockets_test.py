#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sockets_test.py BUILD_FOLDER: what `dev bench sockets` writes.  No time is judged."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import serve
import sockets
import sockets_figures as figures
from bench import fast_sockets, plots
from bench.hosts import SOURCES

BUILD = ""
PAPER = sockets.Effort(rtt=[1, 1024, 65536], bulk=[4096], paper=[64, 512, 4096, 65536], connect=[64],
                       hosts_rtt=[64, 4096])


def made_up(rows, ours, raw):
    """Rows with the nanoseconds that these functions make of each, as they are in a file."""
    rows = list(rows)
    for row in rows:
        for who, ns in zip(row.COLUMNS, [ours, *[raw] * (len(row.COLUMNS) - 1)]):
            row.samples[who] = [ns(row)]
    return {row.name: row.as_json() for row in rows}


def constant(ns):
    return lambda _: ns


class Aims(unittest.TestCase):
    def test_every_row_has_one(self):
        for row in [*sockets.all_rows(sockets.FULL), *sockets.hosts_rows(sockets.FULL),
                    *sum(sockets.program_rows().values(), [])]:
            self.assertTrue(row.aims, row.name)

    def test_are_how_many_times_faster_than_tcp(self):
        rows = made_up(sockets.stream_rows(PAPER), constant(1000), constant(3000))
        self.assertEqual(rows["rtt_1_asleep"]["verdict"], "pass")
        self.assertEqual([aim["met"] for aim in rows["rtt_1"]["aims"]], [False, True])
        self.assertEqual(rows["rtt_1"]["verdict"], "miss")
        self.assertEqual(rows["rtt_65536"]["verdict"], "pass")
        self.assertEqual(rows["bulk_4096"]["verdict"], "pass")
        self.assertEqual(sockets.times_faster(rows["bulk_4096"]), "3.00")
        self.assertEqual(sockets.times_faster(rows["rtt_1"]), "3.00")

    def test_of_hosts_are_those_of_each_network(self):
        rows = made_up(sockets.hosts_rows(PAPER), constant(1000), constant(1200))  # udp first
        self.assertEqual([aim["met"] for aim in rows["rtt_64_hosts"]["aims"]], [True, False])
        self.assertEqual([aim["met"] for aim in rows["rtt_4096_hosts"]["aims"]], [True, True])

    def test_an_idle_connection_takes_no_time(self):
        def idle(ns):
            name = f"idle_{sockets.IDLE}"
            rows = [row for row in sockets.stream_rows(PAPER) if row.name == name]
            return made_up(rows, constant(ns), constant(0))[name]

        self.assertEqual((idle(0)["verdict"], sockets.times_faster(idle(0))), ("pass", "-"))
        self.assertEqual(idle(20000)["verdict"], "miss")

    def test_every_program_has_rows(self):
        self.assertEqual(list(sockets.program_rows()), list(serve.PROGRAMS))


class Paper(unittest.TestCase):
    def lines(self, made):
        """By the first cells of each line of all tables."""
        return [line for one in figures.tables({"rows": list(made.values())}) for line in one.lines]

    def test_has_ours_beside_theirs(self):
        made = {**made_up(sockets.all_rows(PAPER), lambda row: 500 + 2 * row.size,
                          lambda row: 2 * (200 + row.size)),
                **made_up(sockets.program_rows()["ftp"], constant(1e6), constant(2e6))}
        lines = self.lines(made)
        self.assertIn(["Fast Sockets, Myrinet", "0.068", "157.8", "0.124", "61.4", "57.8"], lines)
        self.assertIn(["today: unetsock", "0.002", "0.5", "0.002", "0.5", "0.502"], lines)
        # A message takes 2 ns for each byte and for 250 or 200 bytes more.
        self.assertIn(["today: unetsock", "500", "250"], lines)
        self.assertIn(["TCP/IP, Myrinet", "29.6", "2098"], lines)
        for program in "ttcp", "netperf":
            self.assertIn([f"as {program}", "today: TCP", "500", "200"], lines)
        self.assertIn(["netperf", "TCP/IP, Myrinet", "23.72", "1189"], lines)
        one, each = [line for line in lines if line[0] in ("on one connection", "a connection for each") and
                     line[1] in ("1 B", "64 B")]
        self.assertEqual(one[2:5], ["1,992,032", "2,487,562", "0.80"])
        self.assertEqual(each[2:5], ["1,592,357", "1,893,939", "0.84"])
        self.assertIn(["FTP", "2 MiB", "2097", "1049", "2.00", "clearly faster than TCP/IP"], lines)

    def test_has_a_picture(self):
        plt = plots.pyplot()
        if not plt:
            self.skipTest("no matplotlib")
        rows = made_up(sockets.all_rows(PAPER), constant(1000), constant(2000)).values()
        self.assertEqual([one.name for one in figures.pictures(plt, {"rows": list(rows)})], ["sockets"])

    def test_has_the_curves_that_the_paper_prints(self):
        _, *line = fast_sockets.ROUND_TRIPS[0]
        self.assertAlmostEqual(figures.then("rtt", line, 1000), 157.8 + 68)
        self.assertAlmostEqual(figures.then("ttcp", (38.57, 560.7), 560.7), 38.57 / 2)

    def test_has_a_dash_where_nothing_was_measured(self):
        lines = self.lines({row.name: row.as_json() for row in sockets.stream_rows(PAPER)})
        self.assertIn(["today: TCP", "-", "-"], lines)
        self.assertIn(["today: AF_UNIX", "-", "-", "-", "-", "-"], lines)


class Report(unittest.TestCase):
    def test_has_every_figure_beside_tcp(self):
        for name, program in serve.PROGRAMS.items():
            if not program.is_installed():
                print(f"left out: {name}, which is not installed")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "sockets.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "sockets", "--build", BUILD,
                                   "--tiny", "--json", out], capture_output=True, text=True,
                                  timeout=550, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = json.loads(out.read_text())
        self.assertEqual(data["failures"], [])
        here = [row.name for row in sockets.all_rows(sockets.TINY)]
        hosts = [row.name for row in sockets.hosts_rows(sockets.TINY)] if os.geteuid() == 0 else []
        self.assertEqual([row["name"] for row in data["rows"]], here + hosts)
        for row in data["rows"]:
            for who in (*sockets.NETWORKS, "raw") if row["name"] in hosts else ("ours", "raw"):
                median = row["figures"][who]["median"]
                if row["unit"] == "ms":  # of processor time, while nothing happens
                    self.assertGreaterEqual(median, 0, row["name"])
                else:
                    self.assertGreater(median, 0, row["name"])
            self.assertIn(row["title"], done.stdout)
        self.assertIn("table 3", done.stdout)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
