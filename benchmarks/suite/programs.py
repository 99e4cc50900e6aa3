# SPDX-License-Identifier: BSD-3-Clause
"""The Split-C programs and their MPI twins: how they are built, started and waited for."""
import dataclasses
import json
import time

from bench import peers
from bench.hosts import SOURCES
from bench.runner import Failure, Runner, Step

NETWORKS = ("udp", "eth")  # of ours between hosts
EVERYWHERE = ["common/common.c", "common/random.c", "mpi/team.c"]
MATRIX_MARKET = ["common/mtx.c", "common/text.c"]
GHOSTS = ["common/sparse.c", "mpi/ghosts.c", "mpi/exchange.c"] + MATRIX_MARKET
SORT = ["common/sort.c", "common/keys.c", "common/local_sort.c", "mpi/exchange.c",
        "mpi/keymail.c"]
NUMPY = ["common/rows.c", "common/npy.c"]

# What each twin is made of besides mpi/NAME.c.
TWINS = {
    "mm": ["common/mm.c", "common/npy.c", "common/block.c"],
    "ssort": ["common/sampling.c"] + SORT,
    "rsort": SORT,
    "cc": ["common/cc.c", "common/components.c", "common/graph.c", "common/pgm.c",
           "mpi/exchange.c"] + MATRIX_MARKET,
    "cg": ["common/cg.c"] + GHOSTS,
    "em3d": ["common/em3d.c"] + GHOSTS,
    "stencil": ["common/stencil.c"] + NUMPY,
    "fft": ["common/fft.c", "common/fourier.c", "mpi/exchange.c"] + NUMPY,
    "gups": ["common/gups.c", "common/keys.c"],
    "gups_bulk": ["common/gups.c", "common/keys.c", "mpi/exchange.c"],
}
ENOUGH_SECONDS = 10  # seconds after which somebody's turns of a case are over: noise no longer matters
LIMIT = 60  # seconds that one run of ours may take


# ---- building and starting ----------------------------------------------------------------------


def twin_sources():
    """Each source that a twin is made of, once."""
    return sorted({f"mpi/{program}.c" for program in TWINS}.union(EVERYWHERE, *TWINS.values()))


def twins_folder(peer, build):
    return build / "benchmarks" / "twins" / peer.name


def build_twins(peer, build):
    """Build those that are older than their sources; why one does not build, or None."""
    folder = twins_folder(peer, build)
    folder.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for part in ("common", "mpi")
                 for path in (SOURCES / part).iterdir())
    for program, sources in TWINS.items():
        made = folder / program
        if not made.exists() or made.stat().st_mtime <= newest:
            why = peer.compile(made, f"mpi/{program}.c", *sources, *EVERYWHERE)
            if why:
                return f"{program} {why}"
    return None


def ours(build, ranks, program, *arguments):
    return [f"{build}/bin/unetrun", "-n", str(ranks), f"{build}/benchmarks/{program}", *arguments]


def ours_between(hosts, build, network, program, *arguments, per_host=1):
    return hosts.split_c(build, network, f"{build}/benchmarks/{program}", *arguments,
                         per_host=per_host)


def twin(peer, build, ranks, program, *arguments):
    return peer.on_machine(ranks, str(twins_folder(peer, build) / program), *arguments)


def twin_between(hosts, peer, build, program, *arguments):
    return peer.between_hosts(hosts, str(twins_folder(peer, build) / program), *arguments)


# ---- waiting ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Turn(Step):
    """A step that takes a program's report; `fewer` are the keys of the same on fewer ranks."""

    fewer: tuple = ()


class SuiteRunner(Runner):
    """Runs turns, and waits as long as there is something to be learnt.

    Of ours, everything runs at least once.  A peer has `patience` seconds for a run, and if it does
    not end it is not tried with more ranks.  After the first turn nobody runs again who has taken
    long enough, or who would not end before the deadline.
    """

    def __init__(self, seconds, patience):
        super().__init__("suite", seconds, LIMIT)
        self.patience = patience
        self.samples = {}  # by key: reports
        self.taken = {}  # by key: seconds of all runs so far
        self.longest = {}  # by key: seconds of one run
        self.too_slow = {}  # by key: seconds that it was given and did not end in

    def turn(self, who, what, command, fewer=()):
        def take(text, _):
            try:
                data = json.loads(text.strip().splitlines()[-1])
            except (IndexError, ValueError):
                raise Failure("reports no JSON") from None
            self.samples.setdefault((who, what), []).append(data)
        return Turn(who, what, command, take, fewer)

    def is_wanted(self, step):
        if step.key in self.given_up:
            return False
        if step.key in self.taken:
            return (self.taken[step.key] <= ENOUGH_SECONDS and
                    time.monotonic() + self.longest[step.key] <= self.deadline)
        if any(key in self.too_slow for key in step.fewer):
            self.too_slow[step.key] = self.patience
            return False
        return True

    def seconds_for(self, step):
        if step.who not in peers.NAMES:
            return LIMIT
        is_late = step.key not in self.taken and time.monotonic() > self.deadline
        return 0 if is_late else self.patience

    def run_step(self, step):
        begun = time.monotonic()
        super().run_step(step)
        seconds = time.monotonic() - begun
        self.taken[step.key] = self.taken.get(step.key, 0) + seconds
        self.longest[step.key] = max(seconds, self.longest.get(step.key, 0))

    def give_up_timed_out(self, step, error):
        if step.who not in peers.NAMES:
            self.give_up(step, error)
            return
        self.too_slow[step.key] = self.patience
        self.given_up.add(step.key)
