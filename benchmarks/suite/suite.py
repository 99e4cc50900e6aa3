#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Split-C suite beside its MPI twins.

Every case is run by everybody in turn, several times over, in one run: machines are noisy,
so what counts is the ratio.  Writes one JSON file with every sample, and a report, into which also
goes what the other benchmarks wrote, if --with names their folder.

The time is bounded: of a peer nobody waits longer than PATIENCE, on more ranks it is not tried
again then, and in later turns nothing is begun that would not end in time.
"""
import argparse
import ctypes.util
import dataclasses
import datetime
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import networks  # pylint: disable=wrong-import-position
import traces  # pylint: disable=wrong-import-position
import twins  # pylint: disable=wrong-import-position
from twins import micro  # pylint: disable=wrong-import-position
import estimate  # pylint: disable=wrong-import-position

PEERS = ("mpich", "openmpi")
ONE_HOST = "one host"  # ours on one rank, which those on two hosts are compared with
OTHERS = ("micro", "net", "curves")
ENOUGH = 10  # seconds after which somebody's turns of a case are over: noise no longer matters
KEPT = 0.85  # of the throughput, with more ranks than cores
TRACED_RANKS = 4
LIMIT = 60  # seconds that one run of ours may take
TURN = ["--warm", "--json"]  # how everybody is run


@dataclasses.dataclass
class Budget:
    """Seconds, of a full or of a quick run."""

    all: int  # for the programs here
    hosts: int  # for those between hosts
    patience: int  # for one run of a peer


FULL = Budget(all=700, hosts=140, patience=20)
QUICK = Budget(all=210, hosts=60, patience=5)


# ---- what is run ------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """A program and its problem."""

    title: str
    program: str
    arguments: object  # of the number of ranks and whether it is a quick run
    aims: dict  # ranks: how many times faster than the best peer; 0: any from 2 on
    weak: bool = False  # the problem grows with the number of ranks
    traced: bool = False  # for the pictures of who sends how much to whom
    hosts_aim: float = 0  # the same between two hosts; 0: not run there
    alone: bool = False  # of ours only

    def aim(self, ranks):
        return self.aims.get(ranks, self.aims.get(0) if ranks > 1 else None)


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
         {}),
    Case("stencil", "stencil",
         fixed("--rows", "2048", "--columns", "2048", "--steps", "100",
               quick=("--rows", "1024", "--columns", "1024", "--steps", "50")), BULK,
         traced=True, hosts_aim=1.2),
    Case("FFT", "fft", fixed("--log2", "22", quick=("--log2", "18")), BULK, traced=True,
         hosts_aim=1.2),
    Case("random updates, single", "gups", UPDATES, {0: 5}),
    Case("random updates, bulk", "gups_bulk", UPDATES, BULK),
]


def fitting_ranks(ranks):
    """As many as can have a core each, or 0."""
    return max((count for count in ranks if count <= micro.cores()), default=0)


def of_most(case, most):
    """The problem that so many ranks have, for fewer to do: it fills the caches as theirs does."""
    return dataclasses.replace(case, title=f"{case.title}, as large as on {most}", alone=True,
                               arguments=lambda _, quick: case.arguments(most, quick))


# ---- running --------------------------------------------------------------------------------


class Run:
    """One start of a program."""

    def __init__(self, who, case, ranks, command):
        self.who = who
        self.case = case
        self.ranks = ranks
        self.command = command


class Runner:
    """Everybody in turn."""

    def __init__(self, options, peers, seconds=None):
        self.options = options
        self.peers = peers
        self.budget = QUICK if options.quick else FULL
        self.samples = {}  # (case's title, ranks, who): list of reports
        self.failures = []
        self.taken = {}  # the same: seconds of all runs so far
        self.longest = {}  # the same: seconds of one run
        self.given_up = set()  # the same: failed once
        self.too_slow = {}  # the same: seconds that it was given
        self.begun = time.monotonic()
        self.deadline = self.begun + (seconds or self.budget.all)

    def runs_of(self, case, ranks):
        arguments = case.arguments(ranks, self.options.quick) + TURN
        yield Run("ours", case, ranks,
                  twins.ours(self.options.build, ranks, case.program, *arguments))
        for peer in self.peers if not case.alone else ():
            yield Run(peer.name, case, ranks, peer.command(ranks, case.program, *arguments))

    def cases(self):
        """Each with its number of ranks."""
        plain = [(case, ranks) for case in self.options.cases for ranks in self.options.ranks]
        fitting, most = fitting_ranks(self.options.ranks), max(self.options.ranks)
        return plain + [(of_most(case, most), fitting) for case in self.options.cases
                        if case.weak and 0 < fitting < most]

    def plan(self):
        """All of one turn before the next: noise that lasts falls on everybody.  Another begins each
        turn, for who runs second finds memory that the first has just used."""
        for turn in range(self.options.turns):
            for case, ranks in self.cases():
                runs = list(self.runs_of(case, ranks))
                first = turn % len(runs)
                yield from runs[first:] + runs[:first]

    def run_all(self):
        plan = list(self.plan())
        for done, run in enumerate(plan):
            self.show(done, len(plan), run)
            key = (run.case.title, run.ranks, run.who)
            if self.has_enough(key):
                continue
            if key[2] in PEERS and key not in self.taken and time.monotonic() > self.deadline:
                self.give_up(key, "no time was left")
                continue
            if key not in self.taken and self.is_hopeless(key):
                self.too_slow[key] = self.budget.patience
                continue
            self.run_one(key, run.command)
        self.show(len(plan), len(plan), None)

    def has_enough(self, key):
        """Whoever has not run yet has not, whatever the time."""
        if key in self.given_up or key not in self.taken:
            return key in self.given_up
        return (self.taken[key] > ENOUGH or
                time.monotonic() + self.longest[key] > self.deadline)

    def is_hopeless(self, key):
        """It took too long on fewer ranks."""
        case, ranks, who = key
        return any((case, fewer, who) in self.too_slow for fewer in self.options.ranks
                   if fewer < ranks)

    def run_one(self, key, command):
        patience = self.budget.patience if key[2] in PEERS else LIMIT
        begun = time.monotonic()
        told, why = self.start(command, patience)
        seconds = time.monotonic() - begun
        self.taken[key] = self.taken.get(key, 0) + seconds
        self.longest[key] = max(seconds, self.longest.get(key, 0))
        if told is not None:
            self.samples.setdefault(key, []).append(told)
            return
        if why is None and key[2] in PEERS:
            self.too_slow[key] = patience
            self.given_up.add(key)
        else:
            self.give_up(key, why or f"still running after {patience} s")

    def give_up(self, key, why):
        self.given_up.add(key)
        self.failures.append(f"{key[2]}, {key[0]}, {key[1]} ranks: {why}")

    def start(self, command, seconds):
        """What the program reports, and why it does not; neither if it does not end in time."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, None
        if process.returncode != 0:
            return None, micro.first_line(err) or f"exit code {process.returncode}"
        try:
            return json.loads(out.strip().splitlines()[-1]), None
        except (IndexError, ValueError):
            return None, "reports no JSON"

    def show(self, done, all_runs, run):
        passed = time.monotonic() - self.begun
        left = f", {passed / done * (all_runs - done):.0f} s left" if done else ""
        what = f": {run.who}, {run.case.title}, {run.ranks} ranks" if run else ""
        line = f"suite [{done}/{all_runs}{left}]{what}"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="" if run else "\n", file=sys.stderr, flush=True)
        elif done % max(1, all_runs // 10) == 0:
            print(line, file=sys.stderr, flush=True)


class HostsRunner(Runner):
    """The same between two hosts, with small problems."""

    def __init__(self, options, peers, hosts):
        super().__init__(options, peers, (QUICK if options.quick else FULL).hosts)
        self.hosts = hosts

    def cases(self):
        return [(case, networks.RANKS) for case in self.options.cases if case.hosts_aim]

    def runs_of(self, case, ranks):
        yield Run(ONE_HOST, case, ranks, twins.ours(self.options.build, 1, case.program,
                                                    *case.arguments(1, True), *TURN))
        arguments = case.arguments(ranks, True) + TURN
        for who, command in networks.commands(self.hosts, self.options.build, self.peers,
                                              case.program, arguments):
            yield Run(who, case, ranks, command)


# ---- what it comes to ---------------------------------------------------------------------------


def summarise(samples):
    """The median time in seconds, and what of it was what."""
    times = sorted(sample["time"] for sample in samples)
    low, high = estimate.interval(times)
    middle = min(samples, key=lambda sample: abs(sample["time"] - statistics.median(times)))
    return {"time": statistics.median(times), "low": low, "high": high, "least": times[0],
            "most": times[-1],
            "computation": middle["computation"], "communication": middle["communication"],
            "first": statistics.median(sample.get("first", 0) for sample in samples),
            "rate": middle["rate"], "unit": middle["unit"], "problem": middle["problem"],
            "values": [sample["time"] for sample in samples]}


def divide(a, b):
    return a / b if a and b else None


def figures_of(runner, case, ranks, everybody):
    return {who: summarise(runner.samples[case.title, ranks, who]) for who in everybody
            if (case.title, ranks, who) in runner.samples}


def too_slow(runner, case, ranks):
    """Who did not end, and how many seconds it was given."""
    return {peer: runner.too_slow[case.title, ranks, peer] for peer in PEERS
            if (case.title, ranks, peer) in runner.too_slow}


def best_peer(figures):
    return min((figures[peer]["time"] for peer in PEERS if peer in figures), default=None)


def judge(ratio, aim):
    return "" if aim is None or ratio is None else "pass" if ratio >= aim else "miss"


def make_row(runner, case, ranks):
    figures = figures_of(runner, case, ranks, ("ours",) + PEERS)
    mine, best = figures.get("ours", {}), best_peer(figures)
    ratio, aim = divide(best, mine.get("time")), case.aim(ranks)
    return {"case": case.title, "program": case.program, "ranks": ranks, "figures": figures,
            "too_slow": too_slow(runner, case, ranks),
            "ratio": ratio, "bound": divide(best, mine.get("computation")), "aim": aim,
            "verdict": judge(ratio, aim)}


def make_hosts_row(runner, case, network):
    """Ours over one of the networks beside the twins over TCP."""
    figures = figures_of(runner, case, networks.RANKS, (network,) + PEERS)
    ratio = divide(best_peer(figures), figures.get(network, {}).get("time"))
    alone = figures_of(runner, case, networks.RANKS, (ONE_HOST,)).get(ONE_HOST, {})
    speed_up = divide(figures.get(network, {}).get("rate"), alone.get("rate"))
    return {"case": case.title, "network": network, "figures": figures, "ratio": ratio,
            "speed_up": speed_up,
            "too_slow": too_slow(runner, case, networks.RANKS),
            "aim": case.hosts_aim, "verdict": judge(ratio, case.hosts_aim)}


def make_weak(rows, same=None):
    """What is left of our throughput where ranks share cores, and what of that with the `same`
    problem where they do not."""
    rates = {row["ranks"]: row["figures"]["ours"]["rate"] for row in rows
             if "ours" in row["figures"]}
    most = max(rates, default=0)
    fitting = fitting_ranks(rates)
    kept = divide(rates[most], rates[fitting]) if fitting and most > fitting else None
    return {"case": rows[0]["case"], "rates": rates, "kept": kept, "aim": KEPT, "same": same,
            "kept_of_same": divide(rates.get(most), same),
            "unit": next((row["figures"]["ours"]["unit"] for row in rows
                          if "ours" in row["figures"]), ""),
            "verdict": judge(kept, KEPT)}


def all_weak(runner, rows):
    """Of each case of that kind."""
    fitting, most = fitting_ranks(runner.options.ranks), max(runner.options.ranks)
    for case in runner.options.cases:
        if case.weak:
            same = figures_of(runner, of_most(case, most), fitting, ("ours",)).get("ours", {})
            yield make_weak([row for row in rows if row["case"] == case.title], same.get("rate"))


def make_traces(runner):
    """Of those that have anything to send."""
    ranks = min(max(runner.options.ranks), TRACED_RANKS)
    for case in runner.options.cases:
        if not case.traced or ranks < 2:
            continue
        trace, why = traces.of_case(runner.options.build, case, ranks)
        if why:
            runner.failures.append(f"ours, trace of {case.title}, {ranks} ranks: {why}")
        else:
            yield trace


def run_between_hosts(options, peers):
    """The rows, and what failed."""
    if not options.hosts:
        return [], []
    with networks.Hosts() as hosts:
        runner = HostsRunner(options, peers, hosts)
        runner.run_all()
    return [make_hosts_row(runner, case, network) for case, _ in runner.cases()
            for network in networks.OURS], [f"between hosts: {text}" for text in runner.failures]


def make_report(runner, load, missing):
    rows = [make_row(runner, case, ranks) for case in runner.options.cases
            for ranks in runner.options.ranks]
    traced = list(make_traces(runner))
    between_hosts, failures = run_between_hosts(runner.options, runner.peers)
    return {"when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": micro.machine(), "load_before": load, "load_after": os.getloadavg()[0],
            "quick": runner.options.quick, "turns": runner.options.turns,
            "peers": {peer.name: peer.peer.version for peer in runner.peers},
            "missing": missing, "failures": runner.failures + failures,
            "rows": rows, "hosts": between_hosts, "traces": traced,
            "weak": list(all_weak(runner, rows))}


# ---- the command line ------------------------------------------------------------------------------


def list_of_ranks(text):
    try:
        ranks = [int(word) for word in text.split(",")]
    except ValueError:
        ranks = [0]
    if not all(1 <= rank <= 1024 for rank in ranks):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers from 1 to 1024")
    return sorted(set(ranks))


def list_of_peers(text):
    names = [name for name in text.split(",") if name not in ("", "none")]
    for name in names:
        if name not in micro.PEERS:
            raise argparse.ArgumentTypeError(f"no peer '{name}': there are {', '.join(PEERS)}")
    return [name for name in names if name in PEERS]  # UCX has no twins


def list_of_cases(text):
    cases = [case for case in CASES if case.program in text.split(",")]
    for name in text.split(","):
        if name not in {case.program for case in CASES}:
            raise argparse.ArgumentTypeError(f"no program '{name}'")
    return cases


def arguments():
    parser = argparse.ArgumentParser(prog="dev bench suite",
                                     description="The Split-C suite beside its MPI twins.")
    parser.add_argument("--quick", action="store_true", help="small problems, in a few minutes")
    parser.add_argument("--ranks", type=list_of_ranks, metavar="LIST", help="default 1,2,4,8")
    parser.add_argument("--turns", type=int, metavar="N", help="how often everybody runs")
    parser.add_argument("--programs", type=list_of_cases, default=CASES, dest="cases",
                        metavar="LIST", help="some of the programs only")
    parser.add_argument("--peers", type=list_of_peers, default=list(PEERS), metavar="LIST",
                        help=f"of {','.join(PEERS)}, or none (default: those that are installed)")
    parser.add_argument("--hosts", action=argparse.BooleanOptionalAction, default=None,
                        help="also between two hosts made of namespaces, which takes root "
                             "(default: not if --quick)")
    parser.add_argument("--with", metavar="DIR", dest="others",
                        help="take what the other benchmarks wrote there into the report, too")
    parser.add_argument("--out", metavar="DIR", help="write report.html, report.md and plots there")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    micro.add_build(parser)
    options = parser.parse_args()
    options.ranks = options.ranks or ([1, 2, 4] if options.quick else [1, 2, 4, 8])
    if options.hosts and os.geteuid() != 0:
        parser.error("--hosts takes root")
    if options.hosts is None:
        options.hosts = not options.quick and os.geteuid() == 0
    options.turns = options.turns or (3 if options.quick else 5)
    return options


def choose_peers(options):
    peers, missing = [], {}
    for name in options.peers:
        peer = twins.Twins(name, pathlib.Path(options.build) / "benchmarks" / "twins")
        why = peer.build()
        if why:
            missing[name] = why
            print(f"suite: without {name}: {why}", file=sys.stderr)
        else:
            peers.append(peer)
    return peers, missing


def read_others(folder):
    """What the other benchmarks wrote with --json into that folder."""
    paths = {name: pathlib.Path(folder) / f"{name}.json" for name in OTHERS} if folder else {}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items()
            if path.exists()}


def main():
    options = arguments()
    others = read_others(options.others)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"suite: the machine is busy (load {load:.1f}): only ratios mean anything",
              file=sys.stderr)
    peers, missing = choose_peers(options)
    runner = Runner(options, peers)
    runner.run_all()
    told = make_report(runner, load, missing)
    out = pathlib.Path(options.out or pathlib.Path(options.build) / "suite")
    out.mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(options.json) if options.json else out / "suite.json"
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    import report  # pylint: disable=import-outside-toplevel
    print(report.write({**told, **others}, out))
    return 1 if any(failure.startswith("ours") for failure in runner.failures) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
