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

import sockets
from bench.hosts import SOURCES

BUILD = ""


class Report(unittest.TestCase):
    def test_has_every_figure_beside_tcp(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "sockets.json"
            done = subprocess.run([sys.executable, SOURCES / "bench", "sockets", "--build", BUILD,
                                   "--tiny", "--json", out], capture_output=True, text=True,
                                  timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            data = json.loads(out.read_text())
        self.assertEqual(data["failures"], [])
        here = [row.name for row in sockets.all_rows(sockets.TINY)]
        hosts = [row.name for row in sockets.hosts_rows(sockets.TINY)] if os.geteuid() == 0 else []
        self.assertEqual([row["name"] for row in data["rows"]], here + hosts)
        for row in data["rows"]:
            for who in (*sockets.NETWORKS, "raw") if row["name"] in hosts else ("ours", "raw"):
                self.assertGreater(row["figures"][who]["median"], 0, row["name"])
            self.assertIn(row["title"], done.stdout)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
