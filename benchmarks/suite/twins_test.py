#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The MPI twins and the peers' micro-benchmarks compile without a warning: with mpicc of MPICH and of
Open MPI, and with gcc and clang below them."""
import os
import shutil
import subprocess
import unittest

import programs
from bench import hosts, peers

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


class Warnings(unittest.TestCase):
    def compiles(self, peer, sources):
        mpicc = peers.ALL[peer].compiler
        if not peers.ALL[peer].has_headers():
            self.skipTest(f"left out: there is no {mpicc}, or it has no mpi.h")
        for compiler in COMPILERS:
            for source in sources:
                with self.subTest(source=source, compiler=compiler):
                    done = subprocess.run(
                        [mpicc, *peers.FLAGS, "-Werror", "-c", source, "-o", os.devnull],
                        env={**os.environ, "MPICH_CC": compiler, "OMPI_CC": compiler},
                        cwd=hosts.SOURCES, capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_mpich(self):
        self.compiles("mpich", [*programs.twin_sources(), "peers/mpi.c"])

    def test_openmpi(self):
        self.compiles("openmpi", [*programs.twin_sources(), "peers/mpi.c"])

    def test_sources_are_all_there_are(self):
        """Those of mpi/ and common/, but for what nobody uses."""
        known = set(programs.twin_sources())
        for folder in ("mpi", "common"):
            for path in (hosts.SOURCES / folder).glob("*.c"):
                self.assertIn(f"{folder}/{path.name}", known)


if __name__ == "__main__":
    unittest.main(verbosity=2)
