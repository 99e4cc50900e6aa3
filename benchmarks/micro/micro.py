# SPDX-License-Identifier: BSD-3-Clause
"""Micro-benchmarks: ours beside the machine's limits and beside MPICH, Open MPI and UCX.

Every group of operations is measured by everybody in turn, several times over, in one run:
machines are noisy, so what counts is the ratio.  A program prints a line "METRIC NANOSECONDS"
for each batch (measure.h); all batches of all turns make the medians.
"""
import os

from bench import peers, table
from bench.driver import Driver, Effort
from bench.hosts import cores
from bench.results import Aim, Row, Samples, at_least, at_least_million, at_most, at_most_us
from bench.runner import Runner


# Turns; milliseconds for each operation and turn; MiB of the table; seconds for all, and for a program.
FULL = Effort(turns=5, millis=60, table_mib=1024, limit=480, each=60,
              sizes=[64, 512, 4096, 65536, 1 << 19, 4 << 20, 64 << 20],
              ranks=[2, 4, 8, 16, 32], starts=[1, 2, 4, 8, 16])
QUICK = Effort(turns=3, millis=20, table_mib=64, limit=110, each=15,
               sizes=[64, 4096, 65536, 4 << 20], ranks=[2, 4, 8, 32], starts=[1, 16])
TINY = Effort(turns=1, millis=1, table_mib=1, limit=60, each=15, sizes=[64, 4096], ranks=[2],
              starts=[1])
START = "start"  # the program of which the whole run is timed


# ---- who runs what ------------------------------------------------------------------------------


def table_mib(wanted):
    """A power of two that two ranks can have without a strain."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    while wanted > 1 and wanted > memory / 8:
        wanted //= 2
    return wanted


def exchanged(effort):
    """The sizes of blocks of all-to-all."""
    return [size for size in (8, 4096, 65536) if size <= max(effort.sizes)]


def groups(effort):
    """Of each group: title, ranks, suffix of its metrics, and the arguments of our program, of
    micro_raw (None: it has no limit) and of the peers' programs, and which peers take part."""
    millis, sizes = str(effort.millis), [str(size) for size in effort.sizes]
    pair = ["pair", millis]
    yield "messages and accesses", 2, "", ["am", millis], pair, pair, peers.NAMES
    yield ("accesses, kind by kind", 2, "", ["access", millis, str(table_mib(effort.table_mib))],
           None, None, ())
    bulk = ["bulk", millis, *sizes]
    yield "bulk transfers", 2, "", bulk, None, bulk, peers.MPIS
    for ranks in effort.ranks:
        collective = ["collective", millis, *(str(size) for size in exchanged(effort))]
        yield (f"collectives of {ranks}", ranks, f"_{ranks}", collective,
               pair if ranks == 2 else ["barrier", millis, str(ranks)], collective, peers.MPIS)
    yield "rows over udp", 2, "", ["rows", millis], None, None, ()
    allocation = ["allocation", millis]
    yield "allocation", 2, "", allocation, ["malloc", millis], allocation, peers.MPIS
    for ranks in effort.starts:
        yield (f"start of {ranks}", ranks, f"_{ranks}", [START], [START, str(ranks)], [START],
               peers.MPIS)


def plan(options, samples):
    build = options.build
    for title, ranks, suffix, ours, raw, theirs, who in groups(options.effort):
        network = ["--backend", "udp"] if ours[0] == "rows" else []
        commands = {"ours": [f"{build}/bin/unetrun", *network, "-n", str(ranks),
                             f"{build}/benchmarks/micro_{ours[0]}", *ours[1:]]}
        if raw:
            commands["raw"] = [f"{build}/bin/micro_raw", *raw]
        for peer in options.peers:
            if peer.name in who:
                commands[peer.name] = peer.on_machine(
                    ranks, f"{build}/benchmarks/peers/{peer.name}", *theirs)
        for _ in range(options.effort.turns):
            for column, command in commands.items():
                if ours[0] == START:
                    yield samples.timed_step(column, title, command, START + suffix)
                else:
                    yield samples.step(column, title, command, suffix)


# ---- the rows -----------------------------------------------------------------------------------


def access_rows():
    accesses = {peer: "read" for peer in peers.NAMES}
    limit = [at_most(1.1, "raw")]
    for pattern in "list", "dependent", "independent":
        for kind in "static", "heap", "stack", "spread":
            yield Row(f"read_{pattern}_{kind}", f"read, {pattern}, {kind}", "ns", limit, accesses)
    yield Row("read_random", "read, random, large table", "ns", limit)
    yield Row("write", "write", "ns", limit)
    yield Row("get", "get, many per sync", "ns", limit)
    yield Row("put", "put, many per sync", "ns", limit)
    yield Row("store", "signalling store", "ns")
    yield Row("fetch_add", "fetch_add", "ns")


def bulk_rows(sizes):
    for direction in "read", "write":
        for size in sizes:
            aims = [at_least(0.95, "raw")] if size in (65536, 4 << 20) else []
            yield Row(f"bulk_{direction}_{size}", f"bulk_{direction}, {table.size(size)}", "GB/s",
                      aims, size=size)


def collective_rows(ranks, sizes):
    aims = {8: [at_most_us(6)], 32: [at_most_us(40)]} if cores() == 2 else {}
    for count in ranks:
        aim = [at_most(1.0, "raw")] if count == 2 else aims.get(count, [])
        raw = {"raw": "line_round_trip_2"} if count == 2 else {}
        yield Row(f"barrier_{count}", f"barrier, {count} ranks", "us", aim, raw)
        yield Row(f"reduce_int_{count}", f"reduction, int, {count} ranks", "us")
        yield Row(f"reduce_double_{count}", f"reduction, double, {count} ranks", "us")
        yield Row(f"broadcast_{count}", f"broadcast, {count} ranks", "us",
                  [at_most(1.0, "openmpi")])
        yield Row(f"team_barrier_{count}", f"team barrier, {count} ranks", "us",
                  [at_most(1.1, "raw")])
        yield Row(f"team_reduce_{count}", f"team reduction, int, {count} ranks", "us",
                  [at_most(1.1, "raw")])
        for size in sizes:
            yield Row(f"alltoall_{size}_{count}", f"all-to-all, {table.size(size)}, {count} ranks",
                      "us", [at_most(1.0, "peer")])


def all_rows(effort):
    yield Row("am_round_trip", "AM request and reply", "ns",
              [at_most(1.25, "raw"), at_most(0.7, "peer")])
    yield Row("am_one_way", "AMs one way", "M/s", [at_least_million(60)])
    yield from access_rows()
    yield from bulk_rows(effort.sizes)
    yield from collective_rows(effort.ranks, exchanged(effort))
    yield Row("put_2d", "2D put of 64 rows of 64 bytes, udp", "us", [at_most(0.2, "raw")])
    yield Row("put_burst", "64 puts of 64 bytes and a sync, udp", "us")
    yield Row("malloc", "malloc and free", "ns")
    yield Row("spread_malloc", "all_spread_malloc and free", "us")
    for count in effort.starts:
        aims = [Aim("<= 1x mpich", "mpich")] if count == 16 else []
        yield Row(f"start_{count}", f"start and end, {count} ranks", "ms", aims)


class Micro(Driver):
    name = "micro"
    summary = "Micro-benchmarks beside the machine's limits and peers."
    quick = "in under two minutes"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}

    def measure(self, options):
        samples = Samples()
        runner = Runner(self.name, options.effort.limit, options.effort.each)
        runner.run(plan(options, samples))
        return {"failures": runner.failures,
                "rows": [row.collect(samples).as_json() for row in all_rows(options.effort)]}

    def tables(self, data):
        return [table.measured("What the pieces cost on one node", data)]


DRIVER = Micro()
