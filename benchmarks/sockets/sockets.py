# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs over unetsock, beside the same over kernel TCP ("raw") and AF_UNIX.

As root there are also two hosts, made of namespaces, with `unetsock --net` between them.  All take turns in one run, so what counts is the ratio.  Programs that are not installed are left out.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from bench import table
from bench.driver import Driver, Effort
from bench.hosts import SOURCES, Hosts
from bench.results import Row, Samples
from bench.runner import Runner

FULL = Effort(turns=7, millis=400, limit=400, each=60, rtt=[1, 64, 512, 4096],
              bulk=[512, 4096, 65536, 1 << 20])
QUICK = Effort(turns=3, millis=150, limit=110, each=30, rtt=[64, 4096], bulk=[4096, 65536, 1 << 20])
TINY = Effort(turns=1, millis=20, limit=60, each=30, rtt=[64], bulk=[4096])

PROGRAMS = {"redis": ("redis-server", "redis-benchmark"), "nginx": ("nginx", "wrk"),
            "iperf3": ("iperf3",)}


NETWORKS = ("udp", "eth")  # between hosts


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


def between_hosts(options, hosts, key, samples):
    """The same two processes on two hosts: kernel TCP, and unetsock --net over each network."""
    effort, bin_ = options.effort, options.build / "bin"
    place = ",".join([hosts.interface, *hosts.pids])
    environment = ["env", f"UNETSOCK_KEY={key}", f"UNET_INTERFACE={hosts.interface}"]
    for kind, sizes in ("rtt", effort.rtt), ("bulk", effort.bulk):
        for size in sizes:
            command = [str(bin_ / "sockets_stream"), place, kind, str(size), str(effort.millis)]
            for _ in range(effort.turns):
                what = f"{kind} of {size} bytes between hosts"
                yield samples.step("raw", what, command, "_hosts")
                for net in NETWORKS:
                    yield samples.step(net, what,
                                       [*environment, str(bin_ / "unetsock"), "--net", net, *command],
                                       "_hosts")
    if "redis" in installed():
        command = [sys.executable, str(SOURCES / "sockets" / "serve.py"), ",".join(hosts.pids)]
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


def measure_between_hosts(options, runner, samples):
    if os.geteuid() != 0:
        return
    with Hosts() as hosts, tempfile.TemporaryDirectory() as folder:
        runner.run(between_hosts(options, hosts, make_key(options, folder), samples))


class HostsRow(Row):
    COLUMNS = (*NETWORKS, "raw")


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


def hosts_rows(effort):
    for size in effort.rtt:
        yield HostsRow(f"rtt_{size}_hosts", f"round trip, {table.size(size)}", "us")
    for size in effort.bulk:
        yield HostsRow(f"bulk_{size}_hosts", f"stream, writes of {table.size(size)}", "GB/s", size=size)
    if "redis" in installed():
        for clients in 1, 4, 8:
            yield HostsRow(f"redis_{clients}_hosts", f"redis GET, clients: {clients}", "us")


def times_faster(row, who="ours"):
    """How many times faster than over TCP; over 1 is better, whatever the unit."""
    figures = row["figures"]
    if who not in figures or "raw" not in figures:
        return "-"
    ours, raw = figures[who]["median"], figures["raw"]["median"]
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
        measure_between_hosts(options, runner, samples)
        rows = [row.collect(samples).as_json() for row in all_rows(options.effort)]
        hosts = [row.collect(samples).as_json() for row in hosts_rows(options.effort)
                 if os.geteuid() == 0]
        return {"failures": runner.failures, "rows": rows + hosts}

    def tables(self, data):
        here = [row for row in data["rows"] if not row["name"].endswith("_hosts")]
        hosts = [row for row in data["rows"] if row["name"].endswith("_hosts")]
        rows = [[row["title"], row["unit"], cell(row, "ours"), cell(row, "raw"), cell(row, "unix"),
                 times_faster(row)] for row in here]
        yield table.Table("Sockets: unetsock beside the kernel",
                          [["", "unit", "unetsock", "TCP", "AF_UNIX", "times TCP"], *rows],
                          "Medians; the last column is how many times faster than over TCP.")
        rows = [[row["title"], row["unit"], *[cell(row, net) for net in NETWORKS], cell(row, "raw"),
                 *[times_faster(row, net) for net in NETWORKS]] for row in hosts]
        if any("raw" in row["figures"] for row in hosts):
            yield table.Table("Sockets: unetsock --net between two hosts made of namespaces",
                              [["", "unit", *NETWORKS, "TCP", *[f"{net}, times TCP" for net in NETWORKS]],
                               *rows],
                              "Medians; the last columns are how many times faster than over TCP.")


DRIVER = Sockets()
