# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs over unetsock, beside the same over kernel TCP ("raw") and AF_UNIX.

All take turns in one run, so what counts is the ratio.  Programs that are not installed are left out.
"""
import shutil
import sys

from bench import table
from bench.driver import Driver, Effort
from bench.hosts import SOURCES
from bench.results import Row, Samples
from bench.runner import Runner

FULL = Effort(turns=7, millis=400, limit=400, each=60, rtt=[1, 64, 512, 4096],
              bulk=[512, 4096, 65536, 1 << 20])
QUICK = Effort(turns=3, millis=150, limit=110, each=30, rtt=[64, 4096], bulk=[4096, 65536, 1 << 20])
TINY = Effort(turns=1, millis=20, limit=60, each=30, rtt=[64], bulk=[4096])

PROGRAMS = {"redis": ("redis-server", "redis-benchmark"), "nginx": ("nginx", "wrk"),
            "iperf3": ("iperf3",)}


def installed():
    return [name for name, needs in PROGRAMS.items() if all(map(shutil.which, needs))]


def plan(options, samples):
    effort, bin_ = options.effort, options.build / "bin"
    unetsock = str(bin_ / "unetsock")
    for kind, sizes in ("rtt", effort.rtt), ("bulk", effort.bulk):
        for size in sizes:
            rest = [kind, str(size), str(effort.millis)]
            stream = str(bin_ / "sockets_stream")
            for _ in range(effort.turns):
                what = f"{kind} of {size} bytes"
                yield samples.step("ours", what, [unetsock, stream, "tcp", *rest])
                yield samples.step("raw", what, [stream, "tcp", *rest])
                yield samples.step("unix", what, [stream, "unix", *rest])
    for name in installed():
        command = [sys.executable, str(SOURCES / "sockets" / "serve.py"), name]
        for _ in range(effort.turns):
            yield samples.step("ours", name, [*command, unetsock])
            yield samples.step("raw", name, command)


class SocketsRow(Row):
    COLUMNS = ("ours", "raw", "unix")


def all_rows(effort):
    for size in effort.rtt:
        yield SocketsRow(f"rtt_{size}", f"round trip, {table.size(size)}", "us")
    for size in effort.bulk:
        yield SocketsRow(f"bulk_{size}", f"stream, writes of {table.size(size)}", "GB/s", size=size)
    have = installed()
    if "redis" in have:
        yield SocketsRow("redis", "redis GET, 50 clients", "us")
        yield SocketsRow("redis_p16", "redis GET, 50 clients, 16 at a time", "us")
        yield SocketsRow("redis_one", "redis GET, 1 client", "us")
    if "nginx" in have:
        yield SocketsRow("nginx_page", "nginx, 6 bytes, 16 clients", "us")
        yield SocketsRow("nginx_file", "nginx, 64 KiB by sendfile, 16 clients", "us")
    if "iperf3" in have:
        yield SocketsRow("iperf3", "iperf3", "GB/s", size=1 << 20)


def times_faster(row):
    """How many times faster than over TCP; over 1 is better, whatever the unit."""
    figures = row["figures"]
    if "ours" not in figures or "raw" not in figures:
        return "-"
    ours, raw = figures["ours"]["median"], figures["raw"]["median"]
    return f"{ours / raw if row['unit'] == 'GB/s' else raw / ours:.2f}"


def cell(row, who):
    figure = row["figures"].get(who)
    return f"{figure['median']:.3g}" if figure else "-"


class Sockets(Driver):
    name = "sockets"
    summary = "Unmodified programs over unetsock, beside kernel TCP and AF_UNIX."
    quick = "in under two minutes"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}
    peers = ()

    def check_options(self, parser, options):
        options.peers = []

    def measure(self, options):
        samples = Samples()
        runner = Runner(self.name, options.effort.limit, options.effort.each)
        runner.run(plan(options, samples))
        rows = [row.collect(samples).as_json() for row in all_rows(options.effort)]
        return {"failures": runner.failures, "rows": rows}

    def tables(self, data):
        rows = [[row["title"], row["unit"], cell(row, "ours"), cell(row, "raw"), cell(row, "unix"),
                 times_faster(row)] for row in data["rows"]]
        return [table.Table("Sockets: unetsock beside the kernel",
                            [["", "unit", "unetsock", "TCP", "AF_UNIX", "times TCP"], *rows],
                            "Medians; the last column is how many times faster than over TCP.")]


DRIVER = Sockets()
