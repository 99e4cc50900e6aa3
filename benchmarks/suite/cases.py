# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the suite and their problems."""
import ctypes.util
import dataclasses
from typing import Callable


@dataclasses.dataclass
class Case:
    """A program and its problem."""

    title: str
    program: str
    arguments: Callable  # of the number of ranks and whether it is a quick run
    aims: dict  # ranks: how many times faster than the best peer; 0: any from 2 on
    weak: bool = False  # the problem grows with the number of ranks
    traced: bool = False  # for the pictures of who sends how much to whom
    hosts_aim: float = 0  # the same between two hosts; 0: not run there
    alone: bool = False  # of ours only

    def aim(self, ranks):
        return self.aims.get(ranks, self.aims.get(0) if ranks > 1 else None)

    def label(self, ranks):
        """What a run is called, and a row of the results."""
        return f"{self.title}, {ranks} ranks"

    def as_large_as_on(self, most):
        """The problem that `most` ranks have, for fewer to do: it fills the caches as theirs does."""
        return dataclasses.replace(self, title=f"{self.title}, as large as on {most}", alone=True,
                                   arguments=lambda _, quick: self.arguments(most, quick))


def sort_case(program, variant, name, aims):
    def arguments(ranks, quick):
        return ["--variant", variant, "--keys", str(ranks * (65536 if quick else 524288))]
    return Case(name, program, arguments, aims, weak=True, traced=variant == "bulk",
                hosts_aim=3 if variant == "small" else 1.2)


def fixed(*full, quick):
    return lambda ranks, is_quick: list(quick if is_quick else full)


SMALL_SORTS = {2: 3, 4: 8}
BULK = {0: 1.15}
UPDATES = fixed("--log2", "22", "--updates", "4000000",
                quick=("--log2", "18", "--updates", "1000000"))
WITH_BLAS = [Case("matrix multiply 128, OpenBLAS", "mm",
                  fixed("--blocks", "8", "--blas", quick=("--blocks", "4", "--blas")), BULK)
             ] if ctypes.util.find_library("openblas") else []
CASES = [
    sort_case("ssort", "small", "sample sort, small", SMALL_SORTS),
    sort_case("ssort", "bulk", "sample sort, bulk", BULK),
    sort_case("rsort", "small", "radix sort, small", SMALL_SORTS),
    sort_case("rsort", "bulk", "radix sort, bulk", BULK),
    Case("matrix multiply 128", "mm",
         fixed("--blocks", "8", quick=("--blocks", "4")), BULK, traced=True,
         hosts_aim=1.2),
    *WITH_BLAS,
    Case("matrix multiply 16", "mm",
         fixed("--blocks", "16", "--block-size", "16",
               quick=("--blocks", "16", "--block-size", "16")), BULK),
    Case("connected components, grid", "cc",
         fixed("--grid", "2000", quick=("--grid", "500")), {0: 2}),
    Case("connected components, random", "cc",
         fixed("--random", "1000000", quick=("--random", "100000")), {0: 2}),
    Case("conjugate gradients", "cg",
         fixed("--poisson", "512", "--iterations", "300",
               quick=("--poisson", "256", "--iterations", "100")), BULK, traced=True,
         hosts_aim=1.2),
    Case("EM3D", "em3d",
         fixed("--nodes", "200000", "--steps", "20", quick=("--nodes", "40000", "--steps", "10")),
         {}, hosts_aim=2),
    Case("stencil", "stencil",
         fixed("--rows", "2048", "--columns", "2048", "--steps", "100",
               quick=("--rows", "1024", "--columns", "1024", "--steps", "50")), BULK,
         traced=True, hosts_aim=1.2),
    Case("FFT", "fft", fixed("--log2", "22", quick=("--log2", "18")), BULK, traced=True,
         hosts_aim=1.2),
    Case("random updates, single", "gups", UPDATES, {0: 5}),
    Case("random updates, bulk", "gups_bulk", UPDATES, BULK),
]
