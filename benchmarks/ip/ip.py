# SPDX-License-Identifier: BSD-3-Clause
"""TCP and UDP over U-Net, beside U-Net's own messages and the kernel's TCP and UDP.

As root, what goes over a network goes between two hosts made of namespaces; else all is on lo, which
says less.  All take turns in one run, so what counts is the ratio.
"""
import os

import figures
from bench import table
from bench.distance import PlacedRunner
from bench.driver import Driver, Effort, names
from bench.hosts import Hosts
from bench.results import Row, Samples, at_least, at_most

# Turns; milliseconds for each operation and turn; seconds for all, and for a program; sizes.
FULL = Effort(turns=5, millis=100, limit=300, each=30, rtt=[8, 64, 256, 1024, 1400, 4096, 8192],
              bulk=[64, 256, 1024, 1500, 2048, 4096, 8192, 65536])
QUICK = Effort(turns=3, millis=60, limit=100, each=20, rtt=[8, 1024, 4096],
               bulk=[1024, 4096, 65536])
TINY = Effort(turns=1, millis=5, limit=60, each=20, rtt=[8], bulk=[4096])
BACKENDS = ["shm", "udp", "eth"] if os.geteuid() == 0 else ["shm", "udp"]
DATAGRAM_MOST = 8192  # that ip_bench sends
STREAM = 65536  # bytes of a write, of the streams that are judged
TRIES = 4  # of runs in which something was lost
# What ip_bench calls it, by column; TCP and the messages that it is compared with take turns in one
# run, a batch each.
WAYS = {"ours": "tcp,unet", "ip_udp": "udp", "tcp": "kernel_tcp", "udp": "kernel_udp"}
COLUMNS = ("ours", "raw", *list(WAYS)[1:])
DATAGRAMS = ("ip_udp", "udp")
KERNEL = ("tcp", "udp")


# ---- what is run --------------------------------------------------------------------------------


def place(backend):
    """The network that the kernel's protocols take in comparison."""
    return "lo" if backend == "shm" else "hosts"


def where(hosts, network):
    return ["lo", "0", "0"] if network == "lo" else [hosts.interface, *hosts.pids]


def plan(options, hosts, samples):
    effort = options.effort
    for kind, sizes in ("rtt", effort.rtt), ("bulk", effort.bulk):
        for size in sizes:
            for _ in range(effort.turns):
                yield from turn(options, hosts, samples, kind, size)


def turn(options, hosts, samples, kind, size):
    """Everybody, once."""
    for column, way in WAYS.items():
        if kind == "bulk" and column in DATAGRAMS and size > DATAGRAM_MOST:
            continue
        for network in sorted({place(backend) for backend in options.backends}
                              if column in KERNEL else options.backends):
            backend = "none" if column in KERNEL else network
            command = [f"{options.build}/bin/ip_bench", way, backend, kind, str(size),
                       str(options.effort.millis),
                       *where(hosts, network if column in KERNEL else place(backend))]
            yield samples.step(column, f"{kind} of {size} bytes, {network}", command,
                               f"_{network}")


class IpRunner(PlacedRunner):
    """Bare messages and datagrams may be lost, which ends a run: it is then done once more."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.losses = {}

    def give_up(self, step, why):
        self.losses[step.key] = self.losses.get(step.key, 0) + 1
        if str(why).endswith("what was lost failed") and self.losses[step.key] < TRIES:
            self.run_step(step)
        else:
            super().give_up(step, why)


# ---- the rows -----------------------------------------------------------------------------------


class IpRow(Row):
    COLUMNS = COLUMNS

    def __init__(self, kind, size, backend, title, unit, aims):
        name = f"{kind}_{size}_{backend}"
        super().__init__(name, f"{title}, {backend}", unit, aims, size=size, metrics={
            column: f"{kind}_{size}_{place(backend)}" for column in KERNEL})
        self.kind = kind
        self.backend = backend

    def as_json(self):
        return {**super().as_json(), "kind": self.kind, "backend": self.backend, "size": self.size}


def all_rows(effort, backends):
    for backend in backends:
        networked = backend != "shm"
        for size in effort.rtt:
            yield IpRow("rtt", size, backend, f"round trip of {table.size(size)}", "us",
                        [at_most(2, "raw")] if networked and size == 8 else [])
        for size in effort.bulk:
            yield IpRow("bulk", size, backend, f"stream, writes of {table.size(size)}", "MB/s",
                        [at_least(0.9, "raw")] if networked and size == STREAM else [])


# ---- what it comes to ---------------------------------------------------------------------------


NOTE = ("Medians; the ratio is of times or of rates, TCP over U-Net to U-Net's messages, which have at "
        "most as many bytes as a packet of TCP; a datagram at most 8 KiB.  Kernel TCP and UDP are "
        "between the same hosts, beside shm on lo.")


def cells(row, columns):
    return [table.number(row["figures"][column]["median"]) if column in row["figures"] else "-"
            for column in columns]


def measured(data):
    columns = list(figures.TITLES)
    yield ["", "unit", *figures.TITLES.values(), "TCP of U-Net's", "aim", ""]
    for row in data["rows"]:
        yield [row["title"], row["unit"], *cells(row, columns), table.ratio(row["ratio_raw"]),
               "; ".join(aim["aim"] for aim in row["aims"]), row["verdict"]]


class Ip(Driver):
    name = "ip"
    summary = "TCP and UDP over U-Net, beside U-Net's messages and the kernel's TCP and UDP."
    quick = "in under a minute"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}
    peers = ()

    def add_options(self, parser):
        parser.add_argument("--backend", dest="backends", metavar="LIST", default=BACKENDS,
                            type=names("backend", BACKENDS),
                            help="what of ours is measured (default: " + ",".join(BACKENDS) + ")")

    def check_options(self, parser, options):
        if not (options.build / "bin" / "ip_bench").exists():
            parser.error("there is no ip_bench: install liblwip-dev, and build again")
        options.peers = []

    def measure(self, options):
        samples = Samples()
        with Hosts() as hosts:
            runner = IpRunner(self.name, options, samples)
            runner.run(plan(options, hosts, samples))
            rows = [row.collect(samples).as_json()
                    for row in all_rows(options.effort, options.backends)]
            return {"failures": runner.failures, "rows": rows, "hosts": hosts.are_two(),
                    "cores": f"{runner.note()} {hosts.tcp_note()}".strip()}

    def tables(self, data):
        return [table.Table("TCP and UDP over U-Net", measured(data), f"{NOTE} {data.get('cores', '')}".strip()),
                figures.layers_table(data)]

    def pictures(self, plt, data):
        return figures.pictures(plt, data)


DRIVER = Ip()
