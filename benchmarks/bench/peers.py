# SPDX-License-Identifier: BSD-3-Clause
"""The libraries of others: how programs are built with them and started."""
import os
import re
import shutil
import subprocess

from bench import runner
from bench.hosts import SOURCES, cores

FLAGS = ["-std=gnu11", "-O3", "-falign-functions=64",
         "-falign-loops=64", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes",
         "-Wmissing-prototypes", "-Icommon", "-Impi"]


class Peer:
    """A library.  Its programs run on this machine or, over TCP, with a rank on each of two hosts."""

    name = title = compiler = ""
    libraries = []
    launcher = []  # the command that starts ranks
    sources = ["mpi.c", "mpi_window.c"]  # in peers/, what the benchmarks of messages run

    def missing(self):
        """The tool that is not installed, or None."""
        return next((tool for tool in (self.compiler, *self.launcher[:1])
                     if not shutil.which(tool)), None)

    def has_headers(self):
        """Whether programs can be compiled: some packages bring mpicc and no mpi.h."""
        return shutil.which(self.compiler) is not None and subprocess.run(
            [self.compiler, "-E", "-include", "mpi.h", "-x", "c", os.devnull],
            capture_output=True, timeout=60, check=False).returncode == 0

    def compile(self, program, *sources):
        """Compile sources, named from benchmarks/ on; why that fails, or None."""
        done = subprocess.run([self.compiler, *FLAGS, *sources, "-o", program, *self.libraries,
                               "-lm"], cwd=SOURCES, capture_output=True, text=True, timeout=120,
                              check=False)
        return "does not build: " + runner.first_line(done.stderr) if done.returncode else None

    def version(self):
        return self.version_told_by(self.launcher[0], "--version")

    @staticmethod
    def version_told_by(*command):
        try:
            data = subprocess.run(command, capture_output=True, text=True, timeout=20,
                                  check=False).stdout
        except OSError:
            data = ""
        found = re.search(r"\d+\.\d+[.\w]*", data)
        return found.group(0) if found else "unknown"

    def on_machine(self, ranks, program, *arguments):
        """The command for so many ranks here."""
        raise NotImplementedError

    def between_hosts(self, hosts, program, *arguments):
        """The command for two ranks, each bound to a core of its own."""
        return hosts.on_first(*self.over_tcp(hosts), *self.rank(hosts, 0, program, arguments), ":",
                              *self.rank(hosts, 1, program, arguments))

    def over_tcp(self, hosts):
        raise NotImplementedError

    def rank(self, hosts, number, program, arguments):  # pylint: disable=unused-argument
        return ["-n", "1", "taskset", "-c", str(number % cores()), program, *arguments]


class Mpich(Peer):
    name, title, compiler, launcher = "mpich", "MPICH", "mpicc.mpich", ["mpiexec.hydra"]

    def on_machine(self, ranks, program, *arguments):
        return [*self.launcher, "-bind-to", "core" if ranks <= cores() else "none", "-n",
                str(ranks), program, *arguments]

    def over_tcp(self, hosts):
        far = ["-launcher", "ssh", "-launcher-exec", hosts.rsh, "-hosts", "host1:1,host2:1"]
        return ["env", "UCX_TLS=tcp,self", "FI_PROVIDER=tcp", "MPIR_CVAR_NOLOCAL=1",
                *self.launcher, *(far if hosts.are_two() else []), "-bind-to", "none"]


class OpenMpi(Peer):
    name, title, compiler, launcher = "openmpi", "Open MPI", "mpicc.openmpi", ["mpirun.openmpi"]

    def as_root(self):
        return ["--allow-run-as-root"] if os.geteuid() == 0 else []

    def on_machine(self, ranks, program, *arguments):
        return [*self.launcher, *self.as_root(), "--bind-to", "core" if ranks <= cores() else "none",
                "--oversubscribe", "-n", str(ranks), program, *arguments]

    def over_tcp(self, hosts):
        far = ["--mca", "plm_rsh_agent", hosts.rsh] if hosts.are_two() else []
        return [*self.launcher, *self.as_root(), *far, "--mca", "pml", "ob1", "--mca", "btl",
                "tcp,self", "--mca", "btl_tcp_if_include", hosts.interface,
                # Windows of rdma fail over TCP, and those of ucx take up to three times as long.
                "--mca", "osc", "^rdma,ucx",
                "--bind-to", "none", "--oversubscribe"]

    def rank(self, hosts, number, program, arguments):
        place = ["-host", f"host{number + 1}"] if hosts.are_two() else []
        return [*place, *super().rank(hosts, number, program, arguments)]


class Ucx(Peer):
    """Has no launcher: its program makes both processes, and puts them on the hosts itself."""

    name, title, compiler, sources = "ucx", "UCX", "gcc", ["ucx.c"]
    libraries = ["-lucp", "-lucs"]

    def version(self):
        data = self.version_told_by("ucx_info", "-v")
        return data if data != "unknown" else self.version_told_by("pkg-config", "--modversion",
                                                                   "ucx")

    def on_machine(self, ranks, program, *arguments):
        return [program, *arguments]

    def between_hosts(self, hosts, program, *arguments):
        return ["env", "UCX_TLS=tcp,self", f"UCX_NET_DEVICES={hosts.interface}", program,
                *arguments[:2], *hosts.pids, *arguments[2:]]


ALL = {peer.name: peer for peer in (Mpich(), OpenMpi(), Ucx())}
NAMES = tuple(ALL)
MPIS = ("mpich", "openmpi")
TITLES = {peer.name: peer.title for peer in ALL.values()}
