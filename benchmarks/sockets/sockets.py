# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs over unetsock, beside the same over kernel TCP ("raw") and AF_UNIX.

As root there are also two hosts, made of namespaces, with `unetsock --net` between them.  All take turns in one run, so
what counts is the ratio.  Programs that are not installed are left out.  What the paper on Fast Sockets measured is
among the rows; sockets_figures.py makes its tables of them.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import serve
import sockets_figures as figures
from bench import table
from bench.distance import PlacedRunner
from bench.driver import Driver, Effort
from bench.hosts import SOURCES, Hosts
from bench.results import RATES, Aim, Row, Samples

# Turns; milliseconds of each stream and turn, and of an idle connection; seconds for all, and for a program; by what
# the numbers of a program's requests are divided; bytes of messages: of round trips, streams, the paper's streams,
# requests with a connection each, round trips between hosts.
FULL = Effort(turns=5, millis=300, idle=1000, limit=900, each=60, part=1,
              rtt=[1, 64, 256, 512, 1024, 4096, 16384, 65536], bulk=[512, 4096, 65536, 1 << 20],
              paper=[64, 256, 1024, 4096, 16384, 65536], connect=[1, 64, 1024],
              hosts_rtt=[1, 64, 512, 4096])
QUICK = Effort(turns=3, millis=150, idle=1000, limit=350, each=30, part=1, rtt=[1, 64, 1024, 4096, 65536],
               bulk=[4096, 65536, 1 << 20], paper=[64, 1024, 8192, 65536], connect=[64],
               hosts_rtt=[64, 4096])
TINY = Effort(turns=1, millis=20, idle=50, limit=400, each=90, part=20, rtt=[1, 64], bulk=[4096],
              paper=[64, 1024, 4096], connect=[64], hosts_rtt=[64])

NETWORKS = ("udp", "eth")  # between hosts
IDLE = 64  # bytes of the messages that came before
ASLEEP = ("redis", "nginx")  # programs that are also measured while nobody spins
# Times as many turns: of short runs, most of which is Python's; where a run depends on how its processes fell on the
# cores, by a factor of two over TCP itself; and where the aim is nearer to 1 than five medians can tell.
OFTEN = {"ftp": 3, "nginx": 2, "bulk between hosts": 5, "connect": 5}
SERVE = [sys.executable, str(SOURCES / "sockets" / "serve.py")]
NEVER_SPINNING = ["env", "UNETSOCK_SPIN=0"]


# ---- what is run --------------------------------------------------------------------------------


def streams(effort):
    """Of stream.c: what it measures, with how many bytes, and whether that is beside AF_UNIX, too."""
    for kind, sizes, unix in (("rtt", effort.rtt, True), ("bulk", effort.bulk, True),
                              ("connect", effort.connect, True),
                              *((kind, effort.paper, False) for kind in figures.STREAMS)):
        for size in sizes:
            yield kind, size, unix


def plan(options, samples):
    effort, bin_ = options.effort, options.build / "bin"
    unetsock, stream = str(bin_ / "unetsock"), str(bin_ / "sockets_stream")
    for kind, size, unix in streams(effort):
        what, rest = f"{kind} of {size} bytes", [kind, str(size), str(effort.millis)]
        for _ in range(effort.turns * OFTEN.get(kind, 1)):
            yield samples.step("ours", what, [unetsock, stream, "tcp", *rest])
            if kind == "rtt":
                yield samples.step("ours", what + ", never spinning",
                                   [*NEVER_SPINNING, unetsock, stream, "tcp", *rest], "_asleep")
            yield samples.step("raw", what, [stream, "tcp", *rest])
            if unix:
                yield samples.step("unix", what, [stream, "unix", *rest])
    idle = [stream, "tcp", "idle", str(IDLE), str(effort.idle)]
    for _ in range(effort.turns):
        yield samples.step("ours", "an idle connection", [unetsock, *idle])
        yield samples.step("raw", "an idle connection", idle)
    for name in serve.installed():
        command = [*SERVE, str(effort.part), name]
        for _ in range(effort.turns * OFTEN.get(name, 1)):
            yield samples.step("ours", name, [*command, unetsock])
            if name in ASLEEP:
                yield samples.step("ours", name + ", never spinning", [*NEVER_SPINNING, *command, unetsock],
                                   "_asleep")
            yield samples.step("raw", name, command)


def between_hosts(options, hosts, key, samples):
    """The same two processes on two hosts: kernel TCP, and unetsock --net over each network."""
    effort, bin_ = options.effort, options.build / "bin"
    place = ",".join([hosts.interface, *hosts.pids])
    environment = ["env", f"UNETSOCK_KEY={key}", f"UNET_INTERFACE={hosts.interface}"]
    for kind, sizes in ("rtt", effort.hosts_rtt), ("bulk", effort.bulk):
        for size in sizes:
            command = [str(bin_ / "sockets_stream"), place, kind, str(size), str(effort.millis)]
            for _ in range(effort.turns * OFTEN.get(f"{kind} between hosts", 1)):
                what = f"{kind} of {size} bytes between hosts"
                yield samples.step("raw", what, command, "_hosts")
                for net in NETWORKS:
                    yield samples.step(net, what,
                                       [*environment, str(bin_ / "unetsock"), "--net", net, *command],
                                       "_hosts")
    if "redis" in serve.installed():
        command = [*SERVE, str(effort.part), ",".join(hosts.pids)]
        for _ in range(effort.turns):
            yield samples.step("raw", "redis between hosts", command)
            for net in NETWORKS:
                yield samples.step(net, "redis between hosts",
                                   [*environment, *command, str(bin_ / "unetsock"), "--net", net])


def make_key(options, folder):
    key = pathlib.Path(folder) / "key"
    subprocess.run([options.build / "bin" / "unetsock", "--make-key"], check=True,
                   env=dict(os.environ, UNETSOCK_KEY=str(key)), stdout=subprocess.DEVNULL)
    return key


@contextlib.contextmanager
def hosts_for(options, failures):
    """Two hosts and the key of their unetsock, or None where we are not root, or root may not make any."""
    with contextlib.ExitStack() as stack:
        hosts = None
        if os.geteuid() == 0:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            try:
                hosts = stack.enter_context(Hosts()), make_key(options, folder)
            except SystemExit as why:
                failures.append(str(why))
        yield hosts


# ---- the rows -----------------------------------------------------------------------------------


def faster(factor, than="raw", who="ours"):
    """At least so many times as fast as another column."""
    mine = "" if who == "ours" else who + " "
    return Aim(f"{mine}>= {factor:g}x {TITLES[than]}", than, 1 / factor, who)


TITLES = {"raw": "TCP", "unix": "AF_UNIX"}
FLOOR = 0.95  # of TCP's speed, in any program
SMALL = 4096  # bytes of the longest round trip that has to be much faster
BULK = {4096: 3, 65536: 2.5, 1 << 20: 4}
CONNECT = 0.97
ALMOST_NOTHING = Aim("<= 0.01 ms", "", 1e4)
AS_LITTLE = Aim("<= 1.5x TCP", "raw", 1.5)  # redis wakes ten times a second by itself
# Between hosts, of what goes by the network.
BY_NETWORK = {"udp": 1.05, "eth": 1.4}
LONGEST = 1280


class SocketsRow(Row):
    """Of stream.c or FTP, with its `kind` and the bytes of a message, or of another program."""

    COLUMNS = ("ours", "raw", "unix")

    def __init__(self, name, title, unit, aims, kind="", **others):
        super().__init__(name, title, unit, aims, **others)
        self.kind = kind

    def as_json(self):
        return {**super().as_json(), "kind": self.kind, "size": self.size}


class HostsRow(Row):
    COLUMNS = (*NETWORKS, "raw")


def stream_rows(effort):
    for size in effort.rtt:
        title = f"round trip, {table.size(size)}"
        small = size <= SMALL
        yield SocketsRow(f"rtt_{size}", title, "us",
                         [faster(20), faster(1, "unix")] if small else [faster(FLOOR)], "rtt", size=size)
        yield SocketsRow(f"rtt_{size}_asleep", title + ", never spinning", "us",
                         [faster(1.5 if small else FLOOR)], "rtt_asleep", size=size,
                         metrics={"raw": f"rtt_{size}", "unix": f"rtt_{size}"})
    for size in effort.bulk:
        yield SocketsRow(f"bulk_{size}", f"stream, writes of {table.size(size)}", "GB/s",
                         [faster(BULK.get(size, FLOOR))], "bulk", size=size)
    for size in effort.connect:
        yield SocketsRow(f"connect_{size}", f"connection of one request, {table.size(size)}", "us",
                         [faster(CONNECT)], "connect", size=size)
    yield SocketsRow(f"idle_{IDLE}", "processor time of an idle connection, in a second", "ms",
                     [ALMOST_NOTHING])


def program_rows():
    """By the name of the program."""
    return {
        "redis": [SocketsRow("redis", "redis GET, 50 clients", "us", [faster(2.2)]),
                  SocketsRow("redis_p16", "redis GET, 50 clients, 16 at a time", "us", [faster(1.7)]),
                  SocketsRow("redis_one", "redis GET, 1 client", "us", [faster(8)])],
        "nginx": [SocketsRow("nginx_page", "nginx, 6 bytes, 16 clients", "us", [faster(3)]),
                  SocketsRow("nginx_file", "nginx, 64 KiB by sendfile, 16 clients", "us", [faster(1.3)])],
        "memcached": [SocketsRow(f"memcached_{clients}", f"memcached, clients: {clients}", "us", [faster(4)])
                      for clients in serve.CLIENTS_OF_MEMCACHED],
        "pgbench": [SocketsRow(f"pgbench_{clients}", f"pgbench -S, clients: {clients}", "us", [faster(factor)])
                    for clients, factor in zip(serve.CLIENTS_OF_POSTGRESQL, (5, 1.3))],
        "iperf3": [SocketsRow("iperf3", "iperf3", "GB/s", [faster(4)], size=1 << 20)],
        "ftp": [SocketsRow(f"ftp_{size}", f"FTP, file of {table.size(size)}", "us", [faster(FLOOR)], "ftp",
                           size=size) for size in serve.FTP_SIZES],
        "redis_idle": [SocketsRow("redis_idle", "processor time of an idle redis, in a second", "ms",
                                  [AS_LITTLE])],
    }


def all_rows(effort):
    yield from stream_rows(effort)
    programs = program_rows()
    for name in serve.installed():
        yield from programs[name]
        for row in programs[name] if name in ASLEEP else ():
            yield SocketsRow(row.name + "_asleep", row.title + ", never spinning", row.unit, [faster(FLOOR)],
                             metrics={"raw": row.name})
    for kind, title in figures.STREAMS.items():
        for size in effort.paper:
            yield SocketsRow(f"{kind}_{size}", f"{title}, {table.size(size)}", "GB/s", [faster(FLOOR)],
                             kind, size=size)


def hosts_rows(effort):
    by_network = [faster(factor, who=net) for net, factor in BY_NETWORK.items()]
    by_tcp = [faster(FLOOR, who=net) for net in NETWORKS]
    for size in effort.hosts_rtt:
        yield HostsRow(f"rtt_{size}_hosts", f"round trip, {table.size(size)}", "us",
                       by_network if size <= LONGEST else by_tcp)
    for size in effort.bulk:
        yield HostsRow(f"bulk_{size}_hosts", f"stream, writes of {table.size(size)}", "GB/s", by_tcp, size=size)
    if "redis" in serve.installed():
        for clients in 1, 4, 8:
            yield HostsRow(f"redis_{clients}_hosts", f"redis GET, clients: {clients}", "us", by_network)


# ---- the tables ---------------------------------------------------------------------------------


def times_faster(row, who="ours"):
    """How many times faster than over TCP; over 1 is better, whatever the unit."""
    ours, raw = (row["figures"].get(one, {}).get("median") for one in (who, "raw"))
    if not ours or not raw:
        return "-"
    return f"{ours / raw if row['unit'] in RATES else raw / ours:.2f}"


def cell(row, who):
    figure = row["figures"].get(who)
    return f"{figure['median']:.3g}" if figure else "-"


FASTER_NOTE = "Medians; times TCP is how many times faster than over TCP."


def beside_kernel(title, rows, ours, names, kernel, note):
    """A table of rows: our columns, which have these names, those of the kernel, and how many times faster ours are."""
    faster_than = ["times TCP"] if len(ours) == 1 else [f"{name}, times TCP" for name in names]
    lines = [["", "unit", *names, *(TITLES[who] for who in kernel), *faster_than, "aim", ""]]
    for row in rows:
        lines.append([row["title"], row["unit"], *(cell(row, who) for who in (*ours, *kernel)),
                      *(times_faster(row, who) for who in ours),
                      "; ".join(aim["aim"] for aim in row["aims"]), row["verdict"]])
    return table.Table(title, lines, f"{FASTER_NOTE} {note}".strip())


class Sockets(Driver):
    name = "sockets"
    summary = "Unmodified programs over unetsock, beside kernel TCP and AF_UNIX."
    quick = "in under four minutes"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}
    peers = ()

    def check_options(self, parser, options):
        options.peers = []

    def measure(self, options):
        samples = Samples()
        runner = PlacedRunner(self.name, options, samples)
        with hosts_for(options, runner.failures) as hosts:
            runner.run(plan(options, samples))
            if hosts:
                runner.run(between_hosts(options, *hosts, samples))
        rows = [row.collect(samples).as_json() for row in all_rows(options.effort)]
        if hosts:
            rows += [row.collect(samples).as_json() for row in hosts_rows(options.effort)]
        return {"failures": runner.failures, "rows": rows, "cores": runner.note()}

    def tables(self, data):
        here = [row for row in data["rows"] if not row["name"].endswith("_hosts")]
        hosts = [row for row in data["rows"] if row["name"].endswith("_hosts")]
        yield beside_kernel("Sockets: unetsock beside the kernel", here, ("ours",), ("unetsock",),
                            ("raw", "unix"), data.get("cores", ""))
        if any("raw" in row["figures"] for row in hosts):
            yield beside_kernel("Sockets: unetsock --net between two hosts made of namespaces", hosts,
                                NETWORKS, NETWORKS, ("raw",), data.get("cores", ""))
        yield from figures.tables(data)

    def pictures(self, plt, data):
        return figures.pictures(plt, data)


DRIVER = Sockets()
