# SPDX-License-Identifier: BSD-3-Clause
"""The MPI twins of the Split-C programs: how they are built and started."""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCES / "micro"))
import micro  # pylint: disable=wrong-import-position

FLAGS = ["-std=gnu11", "-O3", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes",
         "-Wmissing-prototypes", "-Icommon", "-Impi"]
EVERYWHERE = ["common/common.c", "common/random.c", "mpi/team.c"]
MATRIX_MARKET = ["common/mtx.c", "common/text.c"]
GHOSTS = ["common/sparse.c", "mpi/ghosts.c", "mpi/exchange.c"] + MATRIX_MARKET
SORT = ["common/sort.c", "common/keys.c", "common/local_sort.c", "mpi/exchange.c",
        "mpi/keymail.c"]
NUMPY = ["common/rows.c", "common/npy.c"]

# What each is made of besides mpi/NAME.c.
PROGRAMS = {
    "mm": ["common/mm.c", "common/npy.c", "common/block.c"],
    "ssort": ["common/sampling.c"] + SORT,
    "rsort": SORT,
    "cc": ["common/cc.c", "common/components.c", "common/graph.c", "common/pgm.c",
           "mpi/exchange.c"] + MATRIX_MARKET,
    "cg": ["common/cg.c"] + GHOSTS,
    "em3d": ["common/em3d.c"] + GHOSTS,
    "stencil": ["common/stencil.c"] + NUMPY,
    "fft": ["common/fft.c", "common/fourier.c", "mpi/exchange.c"] + NUMPY,
    "gups": ["common/gups.c", "common/keys.c"],
    "gups_bulk": ["common/gups.c", "common/keys.c", "mpi/exchange.c"],
}

LAUNCHERS = {"mpich": micro.Mpich("mpich", "mpicc.mpich", "", launcher=["mpiexec.hydra"]),
             "openmpi": micro.OpenMpi("openmpi", "mpicc.openmpi", "", launcher=["mpirun.openmpi"])}


class Twins:
    """All twins, with one MPI."""

    def __init__(self, name, folder):
        self.name = name
        self.peer = LAUNCHERS[name]
        self.folder = pathlib.Path(folder) / name

    def build(self):
        """Why they cannot be had, or None."""
        missing = self.peer.missing()
        if missing:
            return f"no {missing}"
        self.folder.mkdir(parents=True, exist_ok=True)
        newest = max(path.stat().st_mtime for part in ("common", "mpi")
                     for path in (SOURCES / part).iterdir())
        for program in PROGRAMS:
            made = self.folder / program
            if made.exists() and made.stat().st_mtime > newest:
                continue
            why = self.compile(program, made)
            if why:
                return f"{program} does not build: {why}"
        self.peer.version = self.peer.find_version()
        return None

    def compile(self, program, made):
        sources = [f"mpi/{program}.c"] + PROGRAMS[program] + EVERYWHERE
        done = subprocess.run([self.peer.compiler, *FLAGS, *sources, "-o", made, "-lm"],
                              cwd=SOURCES, capture_output=True, text=True, timeout=120, check=False)
        return micro.first_line(done.stderr) if done.returncode != 0 else None

    def command(self, ranks, program, *arguments):
        return self.peer.launch(ranks) + [str(self.folder / program), *arguments]


def all_sources():
    """Each source that a twin is made of, once."""
    return sorted({f"mpi/{program}.c" for program in PROGRAMS}.union(EVERYWHERE,
                                                                     *PROGRAMS.values()))


def ours(build, ranks, program, *arguments):
    return [f"{build}/bin/unetrun", "-n", str(ranks), f"{build}/benchmarks/{program}", *arguments]


def is_there(name):
    """Whether its programs can be compiled: some packages bring mpicc and no mpi.h."""
    compiler = LAUNCHERS[name].compiler
    return shutil.which(compiler) is not None and subprocess.run(
        [compiler, "-E", "-include", "mpi.h", "-x", "c", os.devnull],
        capture_output=True, timeout=60, check=False).returncode == 0
