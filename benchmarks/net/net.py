#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two networks: ours over udp and eth, beside sockets and MPIs over TCP.

As root there are two hosts, made of namespaces and joined by a bridge; else all are on lo, which
says less.  How it is measured and told is micro.py's.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCES = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCES / "micro"))
import micro  # pylint: disable=wrong-import-position

FULL = micro.Effort(turns=5, millis=60, table_mib=0, limit=480, each=60, ranks=[], starts=[],
                    sizes=[64, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20])
QUICK = micro.Effort(turns=3, millis=20, table_mib=0, limit=170, each=30, ranks=[], starts=[],
                     sizes=[256, 1024, 4096, 65536, 1 << 20])
TINY = micro.Effort(turns=1, millis=1, table_mib=0, limit=100, each=40, ranks=[], starts=[],
                    sizes=[1024, 65536])
LOSSY_SIZE = 65536
LOSS = "1 % loss"


# ---- where --------------------------------------------------------------------------------


class Hosts:
    """Two hosts made of namespaces; without root, or until they are entered, this machine's lo."""

    def __init__(self):
        self.folder = None
        self.process = None
        self.pids = ["0", "0"]
        self.interface = "lo"

    def __enter__(self):
        if os.geteuid() != 0:
            print("net: without root there is one network, lo, and no eth", file=sys.stderr)
            return self
        self.folder = tempfile.mkdtemp(prefix="bench-net-")
        script = SOURCES.parent / "tests" / "testbed" / "hosts.sh"
        self.process = subprocess.Popen([script, self.folder, "2"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            self.__exit__()
            raise SystemExit("net: no hosts: see what hosts.sh says above")
        folder = pathlib.Path(self.folder)
        self.pids = [(folder / f"host{i}.pid").read_text().strip() for i in (1, 2)]
        self.interface = "eth0"
        rsh = folder / "rsh"
        rsh.write_text(f'#!/bin/sh\nexec ssh -F {folder}/ssh_config "$@"\n', encoding="ascii")
        rsh.chmod(0o755)
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.stdin.close()
            self.process.wait(20)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def both(self):
        return self.interface != "lo"

    def on_first(self, *command):
        return ["nsenter", "-t", self.pids[0], "-n", "-u", "-m", "--", *command]

    def split_c(self, build, network, program, *arguments, per_host=1):
        """A Split-C program, each rank on a core of its own, as those of the peers are.

        The hosts are one machine and know nothing of each other, so unetrun would bind the first
        rank of either to the same core.
        """
        if not self.both():
            return [f"{build}/bin/unetrun", "-n", str(2 * per_host), "--backend", network,
                    program, *arguments]
        bind = f'exec taskset -c $((PMIX_RANK % {micro.cores()})) "$@"'
        return self.on_first(f"{build}/bin/unetrun", "--hosts", "host1,host2", "--ppn",
                             str(per_host), "--rsh", f"{self.folder}/rsh", "--backend",
                             f"shm,{network}", "--bind-to", "none", "sh", "-c", bind, "sh",
                             program, *arguments)

    def lose(self, packets):
        """One in a hundred of what arrives at either host, or none; False if it cannot be done.

        What the kernel hands up at once counts as one: trains of packets, TCP's as ours.
        """
        rules = "add table inet loss; add chain inet loss in { type filter hook input priority 0; };" \
                " add rule inet loss in meta l4proto { tcp, udp } numgen random mod 100 < 1 drop"
        if not self.both() or not shutil.which("nft"):
            return False
        for pid in self.pids:
            done = subprocess.run(["nsenter", "-t", pid, "-n", "nft",
                                   rules if packets else "delete table inet loss"],
                                  capture_output=True, text=True, timeout=20, check=False)
            if done.returncode != 0:
                print("net: nft:", micro.first_line(done.stderr), file=sys.stderr)
                return False
        return True


# ---- who ------------------------------------------------------------------------------------


class OverTcp:
    """A peer whose ranks are on the two hosts, each on a core of its own."""

    def __init__(self, peer, hosts):
        self.peer = peer
        self.hosts = hosts
        self.name = peer.name

    def __getattr__(self, name):
        return getattr(self.peer, name)

    def command(self, *arguments):
        if self.name == "ucx":
            return ["env", "UCX_TLS=tcp,self", f"UCX_NET_DEVICES={self.hosts.interface}",
                    self.peer.program, *arguments[:2], *self.hosts.pids, *arguments[2:]]
        if not self.hosts.both():
            return [*self.start(), *self.rank(0, arguments), ":", *self.rank(1, arguments)]
        return self.hosts.on_first(*self.start(), *self.rank(0, arguments), ":",
                                   *self.rank(1, arguments))

    def start(self):
        rsh = f"{self.hosts.folder}/rsh"
        if self.name == "mpich":
            far = ["-launcher", "ssh", "-launcher-exec", rsh, "-hosts", "host1:1,host2:1"] \
                if self.hosts.both() else []
            return ["env", "UCX_TLS=tcp,self", "FI_PROVIDER=tcp", "MPIR_CVAR_NOLOCAL=1",
                    *self.peer.launcher, *far, "-bind-to", "none"]
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        far = ["--mca", "plm_rsh_agent", rsh] if self.hosts.both() else []
        return [*self.peer.launcher, *root, *far, "--mca", "pml", "ob1", "--mca", "btl",
                "tcp,self", "--mca", "btl_tcp_if_include", self.hosts.interface,
                "--mca", "osc", "^rdma",  # which takes TCP, and then makes no windows
                "--bind-to", "none", "--oversubscribe"]

    def rank(self, number, arguments):
        named = self.hosts.both() and self.name == "openmpi"
        place = ["-host", f"host{number + 1}"] if named else []
        core = number % micro.cores()
        return [*place, "-n", "1", "taskset", "-c", str(core), self.peer.program, *arguments]


# ---- what -------------------------------------------------------------------------------------


def all_groups(build, hosts, effort):
    millis = str(effort.millis)
    sizes = [str(size) for size in effort.sizes]

    def bench(mode, *streams):
        return [f"{build}/bin/net_bench", mode, millis, hosts.interface, *hosts.pids, *streams]

    yield micro.Group("messages and streams over udp",
                      {"ours": bench("our_udp", *sizes), "raw": bench("udp"),
                       "mpich": ("messages", millis), "openmpi": ("messages", millis),
                       "ucx": ("messages", millis)}, suffix="_udp")
    if os.geteuid() == 0:
        yield micro.Group("messages and streams over eth",
                          {"ours": bench("our_eth", *sizes), "raw": bench("packets", *sizes)},
                          suffix="_eth")
    yield micro.Group("streams over TCP",
                      {"raw": bench("tcp", *sizes), "mpich": ("stream", millis, *sizes),
                       "openmpi": ("stream", millis, *sizes)})
    yield micro.Group(LOSS, {"ours": bench("our_udp_streams", str(LOSSY_SIZE)),
                             "raw": bench("tcp", str(LOSSY_SIZE))}, suffix="_lossy")


def figure_aim(size, rate):
    return micro.Aim(f">= {rate:g} GB/s", "", size / rate)


def all_rows(effort):
    peers = {peer: "am_round_trip_udp" for peer in micro.PEERS}
    one_way = {peer: "am_one_way_udp" for peer in micro.PEERS}
    aims = {"udp": (1.1, 0.7), "eth": (1.2, 0.35)}
    backends = ["udp", "eth"] if os.geteuid() == 0 else ["udp"]
    for backend in backends:
        raw, peer = aims[backend]
        yield micro.Row(f"am_round_trip_{backend}", f"AM request and reply, {backend}", "us",
                        [micro.at_most(raw, "raw"), micro.at_most(peer, "peer")], peers)
        yield micro.Row(f"reliability_{backend}", f"the same beside {backend}'s endpoint", "us",
                        [micro.at_most(1.05, "raw")],
                        {"ours": f"am_round_trip_{backend}", "raw": f"endpoint_round_trip_{backend}"})
        yield micro.Row(f"am_one_way_{backend}", f"AMs one way, {backend}", "M/s",
                        [micro.at_least_million(4)], one_way)
        for size in effort.sizes:
            limit = ("raw",) if backend == "udp" else ()  # of eth: its own row's
            same = {column: f"stream_{size}" for column in limit + micro.PEERS}
            yield micro.Row(f"stream_{size}_{backend}",
                            f"stream of {micro.size_text(size)}, {backend}", "GB/s",
                            [figure_aim(size, 6)] if size == 65536 else [], same, size)
    lossy = f"stream_{LOSSY_SIZE}_lossy"
    text = micro.size_text(LOSSY_SIZE)
    yield micro.Row(lossy, f"stream of {text}, udp, {LOSS}", "GB/s", [micro.at_least(1, "raw")],
                    size=LOSSY_SIZE)


class Measurement(micro.Measurement):
    """Loses packets during the group that is about that."""

    def __init__(self, groups, peers, effort, hosts):
        super().__init__(groups, peers, effort)
        self.hosts = hosts

    def run_one(self, group, column, command):
        if group.title != LOSS:
            return super().run_one(group, column, command)
        if not self.hosts.lose(True):
            return False
        try:
            return super().run_one(group, column, command)
        finally:
            self.hosts.lose(False)


# ---- telling --------------------------------------------------------------------------------


def half_power(rows, backend):
    """The least size that reaches half of the best bandwidth, between two sizes in proportion."""
    points = [(row.size, row.size / row.ns("ours")) for row in rows
              if row.name.startswith("stream_") and row.name.endswith(backend) and row.ns("ours")]
    if not points:
        return None
    half = max(rate for _, rate in points) / 2
    before = (0, 0.0)
    for point in sorted(points):
        if point[1] >= half:
            return before[0] + (point[0] - before[0]) * (half - before[1]) / (point[1] - before[1])
        before = point
    return None


def kept_under_loss(rows):
    """Of the bandwidth without, in percent."""
    ns = {row.name: row.ns("ours") for row in rows}
    clean, lossy = ns.get(f"stream_{LOSSY_SIZE}_udp"), ns.get(f"stream_{LOSSY_SIZE}_lossy")
    return 100 * clean / lossy if clean and lossy else None


def summary(rows):
    told = {f"half_power_bytes_{backend}": half_power(rows, backend) for backend in ("udp", "eth")}
    told["kept_under_loss_percent"] = kept_under_loss(rows)
    return {name: value for name, value in told.items() if value is not None}


def print_summary(told):
    for backend in ("udp", "eth"):
        value = told.get(f"half_power_bytes_{backend}")
        if value is not None:
            print(f"half of the best bandwidth, {backend}: from {value:.0f} bytes on "
                  f"(aim: <= 1024, {'pass' if value <= 1024 else 'MISS'})")
    kept = told.get("kept_under_loss_percent")
    if kept is not None:
        print(f"of the bandwidth at {micro.size_text(LOSSY_SIZE)} {kept:.0f} % stay at {LOSS} "
              f"(aim: >= 60 %, {'pass' if kept >= 60 else 'MISS'})")


def arguments():
    parser = argparse.ArgumentParser(prog="dev bench net", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="in under three minutes")
    parser.add_argument("--tiny", action="store_true", help="just enough to see that it works")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--peers", metavar="LIST",
                        help=f"of {','.join(micro.PEERS)}, or none (default: those installed)")
    micro.add_build(parser)
    options = parser.parse_args()
    options.names = micro.peer_names(parser, options.peers)
    return options


def measure(options, hosts, load):
    effort = TINY if options.tiny else QUICK if options.quick else FULL
    peers, missing = micro.choose_peers(options)
    measurement = Measurement(all_groups(options.build, hosts, effort),
                              [OverTcp(peer, hosts) for peer in peers], effort, hosts)
    measurement.run_all()
    rows = list(all_rows(effort))
    for row in rows:
        row.collect(measurement.samples)
    micro.print_table(rows, measurement)
    told = summary(rows)
    print_summary(told)
    if options.json:
        report = {**micro.report(rows, measurement, load, missing), **told, "hosts": hosts.both()}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if any(text.startswith(("ours", "raw")) for text in measurement.failures) else 0


def main():
    options = arguments()
    load = os.getloadavg()
    if load[0] > 0.5 and not options.tiny:
        print(f"net: the machine is busy (load {load[0]:.1f}): only ratios mean anything",
              file=sys.stderr)
    with Hosts() as hosts:
        return measure(options, hosts, load)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
