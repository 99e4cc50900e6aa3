# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts made of namespaces and joined by a bridge (tests/testbed/hosts.sh)."""
import contextlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from bench import runner

SOURCES = pathlib.Path(__file__).resolve().parent.parent
LOSE = ("add table inet loss; add chain inet loss in { type filter hook input priority 0; }; "
        "add rule inet loss in meta l4proto { tcp, udp } numgen random mod 100 < 1 drop")
LOSE_NO_MORE = "delete table inet loss"
USUAL = "cubic"  # Linux's own choice; with one that paces packets by timers, as bbr does, figures scatter by half


def cores():
    return len(os.sched_getaffinity(0))


def machines_congestion_control():
    try:
        return pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text("ascii").strip()
    except OSError:
        return None


class Hosts:
    """A context in which the two hosts exist.

    Without root, and outside of the context, all commands are for this machine and its network lo.
    """

    def __init__(self):
        self.folder = None
        self.process = None
        self.pids = ["0", "0"]
        self.interface = "lo"
        self.congestion_control = machines_congestion_control()

    def __enter__(self):
        if os.geteuid() != 0:
            print("bench: without root there is one network, lo, and no eth", file=sys.stderr)
            return self
        self.folder = tempfile.mkdtemp(prefix="bench-net-")
        script = SOURCES.parent / "tests" / "testbed" / "hosts.sh"
        self.process = subprocess.Popen([script, self.folder, "2"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            self.__exit__()
            raise SystemExit("bench: no hosts: see what hosts.sh says above")
        folder = pathlib.Path(self.folder)
        self.pids = [(folder / f"host{i}.pid").read_text().strip() for i in (1, 2)]
        self.interface = "eth0"
        if all([self.make_usual(pid) for pid in self.pids]):
            self.congestion_control = USUAL
        rsh = folder / "rsh"
        rsh.write_text(f'#!/bin/sh\nexec ssh -F {shlex.quote(str(folder))}/ssh_config "$@"\n', encoding="utf-8")
        rsh.chmod(0o755)
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.stdin.close()
            self.process.wait(20)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def make_usual(pid):
        """Whether TCP's congestion control is the usual one between the hosts, whatever this machine has."""
        enter = ["nsenter", "-t", pid, "-n", "ip", "route"]
        routes = subprocess.run([*enter, "show", "dev", "eth0"], capture_output=True, text=True, check=False).stdout
        changes = [subprocess.run([*enter, "change", *route.split(), "dev", "eth0", "congctl", USUAL],
                                  capture_output=True, check=False).returncode for route in routes.splitlines()]
        return changes != [] and not any(changes)

    def tcp_note(self):
        """A sentence about the kernel's TCP, or nothing."""
        return f"TCP's congestion control is {self.congestion_control}." if self.congestion_control else ""

    def are_two(self):
        return self.interface != "lo"

    @property
    def rsh(self):
        return f"{self.folder}/rsh"

    def on_first(self, *command):
        """The command, run on the first host."""
        if not self.are_two():
            return list(command)
        return ["nsenter", "-t", self.pids[0], "-n", "-u", "-m", "--", *command]

    def split_c(self, build, network, program, *arguments, per_host=1):
        """A Split-C program with so many ranks on each host, and each rank on a core of its own.

        The hosts are one machine and know nothing of each other, so unetrun would bind the first
        rank of either to the same core.
        """
        if not self.are_two():
            return [f"{build}/bin/unetrun", "-n", str(2 * per_host), "--backend", network, program,
                    *arguments]
        bind = f'exec taskset -c $((PMIX_RANK % {cores()})) "$@"'
        return self.on_first(f"{build}/bin/unetrun", "--hosts", "host1,host2", "--ppn",
                             str(per_host), "--rsh", self.rsh, "--backend", f"shm,{network}",
                             "--bind-to", "none", "sh", "-c", bind, "sh", program, *arguments)

    def apply(self, rules):
        """Apply nftables rules on both hosts; raises Failure."""
        for pid in self.pids:
            done = subprocess.run(["nsenter", "-t", pid, "-n", "nft", rules], capture_output=True,
                                  text=True, timeout=20, check=False)
            if done.returncode != 0:
                raise runner.Failure("nft: " + runner.first_line(done.stderr))

    @contextlib.contextmanager
    def losing_packets(self):
        """Drop one in a hundred of the packets that arrive at either host.

        What the kernel hands up at once counts as one packet: trains of packets, TCP's as ours.
        """
        self.apply(LOSE)
        try:
            yield
        finally:
            self.apply(LOSE_NO_MORE)

    def can_lose_packets(self):
        if not self.are_two() or not shutil.which("nft"):
            return False
        try:
            with self.losing_packets():
                return True
        except runner.Failure as error:
            print(f"bench: no packets are lost: {error}", file=sys.stderr)
            return False
