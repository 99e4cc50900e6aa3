# SPDX-License-Identifier: BSD-3-Clause
"""The user-managed TLB: what the table of pinned pages costs, as in the fifth paper's table 1.

Here the pages are locked by mlock; `dev bench kernel` measures the same over the kernel module.
"""
from bench.results import Row, at_most
from bench.table import number, ratio

PAGES = [1, 4, 16]
PUT = 4 << 10
SHARE = 0.02  # of a put, at most, is a hit


def plan(options, samples):
    for _ in range(options.effort.turns):
        yield samples.step("ours", "pinned pages", [f"{options.build}/bin/pins_bench"])


def rows():
    for pages in PAGES:
        plural = "" if pages == 1 else "s"
        yield Row(f"utlb_hit_{pages}", f"UTLB, hit of {pages} page{plural}", "ns")
        yield Row(f"utlb_miss_{pages}", f"UTLB, miss of {pages} page{plural}, beside the kernel's part",
                  "us", [at_most(1.25, "raw")])


def shares(samples, backends):
    """What part a hit is of a put of 4 KiB, which is half of a ping-pong, by backend."""
    hit = samples.median("ours", "utlb_hit_1")
    both = {backend: samples.median("raw", f"pingpong_{PUT}_{backend}") for backend in backends}
    return [{"backend": backend, "share": hit / (ns / 2)}
            for backend, ns in both.items() if hit and ns]


def shares_table(found):
    yield ["a hit, of a put of 4 KiB", "ratio", "aim", ""]
    for one in found:
        yield [one["backend"], ratio(one["share"]), f"<= {number(SHARE)}",
               "pass" if one["share"] <= SHARE else "miss"]
