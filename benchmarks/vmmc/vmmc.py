# SPDX-License-Identifier: BSD-3-Clause
"""Virtual memory-mapped communication: small sends beside stores of GAM, messages redirected to the
receiver's memory beside the same copied out of the default buffer, and what the paper shows.

On a node (shm), and over udp and eth between two hosts made of namespaces, which takes root.
"""
import os

import utlb
import vmmc_figures as figures
from bench import table
from bench.distance import PlacedRunner
from bench.driver import Driver, Effort, names
from bench.hosts import Hosts
from bench.results import Row, Samples, at_least, at_most

BACKENDS = ["shm", "udp", "eth"] if os.geteuid() == 0 else ["shm", "udp"]
SMALL = [8, 32]
FULL = Effort(turns=5, millis=60, limit=345, each=60,
              sizes=[1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20],
              logp=[8, 32, 128, 512, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20],
              streams=[8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10])
QUICK = Effort(turns=3, millis=20, limit=110, each=40, sizes=[1 << 10, 4 << 10, 64 << 10, 1 << 20],
               logp=[8, 1 << 10, 8 << 10, 64 << 10], streams=[8, 1 << 10, 16 << 10, 128 << 10])
TINY = Effort(turns=1, millis=1, limit=60, each=60, sizes=[64 << 10], logp=[8], streams=[1 << 10])
BIG = 64 << 10  # bytes from which redirection has to pay


def plan(options, hosts, samples):
    yield from utlb.plan(options, samples)
    arguments = [f"{options.build}/benchmarks/vmmc_transfers", str(options.effort.millis),
                 *map(str, SMALL + options.effort.sizes)]
    for backend in options.backends:
        command = hosts.split_c(options.build, backend, *arguments) if backend != "shm" else [
            f"{options.build}/bin/unetrun", "-n", "2", *arguments]
        for _ in range(options.effort.turns):
            yield samples.step("ours", f"transfers over {backend}", command, "_" + backend)
    yield from figures.plan(options, hosts, samples)


def aim_of(backend, size):
    if size < BIG:
        return at_least(0.95, "raw")
    return at_least(1.5 if backend == "shm" else 1.1, "raw")


def all_rows(effort, backends):
    for backend in backends:
        for size in SMALL:
            yield Row(f"small_{size}_{backend}", f"send of {size} B beside GAM's store, round trip, "
                      f"{backend}", "us", [at_most(1.1, "raw")])
        for size in effort.sizes:
            yield Row(f"pingpong_{size}_{backend}", f"redirected beside copied, {table.size(size)}, "
                      f"{backend}", "GB/s", [aim_of(backend, size)], size=2 * size)
            yield Row(f"read_{size}_{backend}", f"the same, and read, {table.size(size)}, "
                      f"{backend}", "GB/s", [at_least(0.95, "raw")], size=2 * size)


def full_shares(samples, effort, backends):
    """The percentage of receives that were redirected in full, by backend and size."""
    found = {(backend, size): samples.median("ours", f"full_{size}_{backend}")
             for backend in backends for size in effort.sizes}
    return [{"backend": backend, "size": size, "percent": share}
            for (backend, size), share in found.items() if share is not None]


def full_table(data):
    yield ["full redirections in ping-pong", "%", "aim", ""]
    for one in data["full"]:
        yield [f"{table.size(one['size'])}, {one['backend']}", f"{one['percent']:.1f}", ">= 90 %",
               "pass" if one["percent"] >= 90 else "miss"]


def possible(samples, effort, backends):
    """What the copy takes that redirection saves, and the ratio that this alone brings: of a message
    out of the default buffer to the same without that copy.  In a round trip there are two.
    """
    for backend in backends:
        for size in effort.sizes:
            copy = samples.median("ours", f"copy_{size}_{backend}")
            trip = samples.median("raw", f"pingpong_{size}_{backend}")
            if copy and trip and trip > 2 * copy:
                yield {"backend": backend, "size": size, "copy_us": copy / 1e3,
                       "ratio": trip / (trip - 2 * copy)}


def possible_table(data):
    yield ["what redirection can save", "the copy, us", "ratio by that alone"]
    for one in data["possible"]:
        yield [f"{table.size(one['size'])}, {one['backend']}", f"{one['copy_us']:.2f}",
               f"{one['ratio']:.2f}"]


class Vmmc(Driver):
    name = "vmmc"
    summary = "Transfer redirection beside the default buffer, and small sends beside GAM's stores."
    quick = "in under two minutes"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}
    peers = ()

    def add_options(self, parser):
        parser.add_argument("--backend", dest="backends", metavar="LIST", default=BACKENDS,
                            type=names("backend", BACKENDS),
                            help="what is measured (default: " + ",".join(BACKENDS) + ")")

    def check_options(self, parser, options):
        options.peers = []

    def measure(self, options):
        samples = Samples()
        runner = PlacedRunner(self.name, options, samples)
        if options.backends == ["shm"]:
            runner.run(plan(options, Hosts(), samples))
        else:
            with Hosts() as hosts:
                runner.run(plan(options, hosts, samples))
        rows = [row.collect(samples).as_json()
                for row in [*all_rows(options.effort, options.backends), *utlb.rows()]]
        return {"failures": runner.failures, "rows": rows, "cores": runner.note(),
                "full": full_shares(samples, options.effort, options.backends),
                "possible": list(possible(samples, options.effort,
                                          [b for b in options.backends if b != "shm"])),
                "utlb": utlb.shares(samples, [b for b in options.backends if b != "shm"]),
                "shapes": figures.shapes(samples, options.effort, options.backends),
                "plain": figures.plain_medians(samples, options.backends)}

    def tables(self, data):
        return [table.measured("Virtual memory-mapped communication", data),
                table.Table("Transfer redirection", full_table(data)),
                table.Table("Redirection over networks", possible_table(data)),
                table.Table("User-managed TLB", utlb.shares_table(data["utlb"])),
                *figures.tables(data)]

    def pictures(self, plt, data):
        return figures.pictures(plt, data)


DRIVER = Vmmc()
