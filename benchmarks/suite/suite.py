# SPDX-License-Identifier: BSD-3-Clause
"""The Split-C suite beside its MPI twins.

Every case is run by everybody in turn, several times over, in one run: machines are noisy,
so what counts is the ratio.  Writes a report, into which also goes what the other benchmarks wrote,
if --with names their folder.
"""
import argparse
import os
import pathlib
import statistics

import pictures
import programs
import tables
import traces
from cases import CASES
from bench import driver, estimate, peers, report, results
from bench.driver import Effort
from bench.hosts import Hosts, cores
from bench.runner import Failure

HOSTS_RANKS = 2  # one on each host
BETWEEN = "between hosts"
ONE_HOST = "one host"  # ours on one rank, which those on two hosts are compared with
OTHERS = ("curves", "micro", "net", "ip", "atm", "sockets")  # whose results go into the report, too
KEPT = 0.85  # of the throughput, with more ranks than cores
TRACED_RANKS = 4
TITLE = "The Split-C suite beside its MPI twins"


# Seconds for all programs here, for all between hosts, and for one run of a peer.
FULL = Effort(all=700, hosts=140, patience=20, turns=5, ranks=[1, 2, 4, 8])
QUICK = Effort(all=210, hosts=60, patience=5, turns=3, ranks=[1, 2, 4])


# ---- running ------------------------------------------------------------------------------------


def fitting_ranks(ranks):
    """As many as can have a core each, or 0."""
    return max((count for count in ranks if count <= cores()), default=0)


def cases_here(options):
    """Each with its number of ranks."""
    yield from ((case, ranks) for case in options.cases for ranks in options.ranks)
    fitting, most = fitting_ranks(options.ranks), max(options.ranks)
    if 0 < fitting < most:
        yield from ((case.as_large_as_on(most), fitting) for case in options.cases if case.weak)


def turns_here(options, runner, case, ranks):
    """The turn of everybody who takes part."""
    arguments = [*case.arguments(ranks, options.quick), "--warm", "--json"]
    yield runner.turn("ours", case.label(ranks),
                      programs.ours(options.build, ranks, case.program, *arguments))
    for peer in options.peers if not case.alone else ():
        yield runner.turn(peer.name, case.label(ranks),
                          programs.twin(peer, options.build, ranks, case.program, *arguments),
                          tuple((peer.name, case.label(fewer)) for fewer in options.ranks
                                if fewer < ranks))


def turns_between(options, hosts, runner, case):
    """The same between hosts, with small problems."""
    what = f"{case.title}, {BETWEEN}"
    yield runner.turn(ONE_HOST, what, programs.ours(options.build, 1, case.program,
                                                    *case.arguments(1, True), "--warm", "--json"))
    arguments = [*case.arguments(HOSTS_RANKS, True), "--warm", "--json"]
    for network in programs.NETWORKS:
        yield runner.turn(network, what, programs.ours_between(hosts, options.build, network,
                                                               case.program, *arguments))
    for peer in options.peers:
        yield runner.turn(peer.name, what, programs.twin_between(hosts, peer, options.build,
                                                                 case.program, *arguments))


def plan(turns, cases):
    """All of one turn before the next: noise that lasts falls on everybody.  Another begins each
    turn, for who runs second finds memory that the first has just used."""
    for number in range(turns):
        for everybody in cases:
            first = number % len(everybody)
            yield from everybody[first:] + everybody[:first]


def run_here(options):
    runner = programs.SuiteRunner(options.effort.all, options.effort.patience)
    runner.run(plan(options.turns, [list(turns_here(options, runner, case, ranks))
                                    for case, ranks in cases_here(options)]))
    return runner


# ---- what it comes to ---------------------------------------------------------------------------


def summarise(samples):
    """The median time in seconds, and what of it was what."""
    times = [sample["time"] for sample in samples]
    data = estimate.summary(times)
    middle = min(samples, key=lambda sample: abs(sample["time"] - data["median"]))
    return {**data, "time": data["median"], "least": min(times), "most": max(times),
            "first": statistics.median(sample.get("first", 0) for sample in samples),
            **{name: middle[name] for name in ("computation", "communication", "rate", "unit",
                                               "problem")}}


def divide(a, b):
    return a / b if a and b else None


def figures_of(runner, what, everybody):
    return {who: summarise(runner.samples[who, what]) for who in everybody
            if (who, what) in runner.samples}


def too_slow(runner, what):
    """Who did not end, and how many seconds it was given."""
    return {peer: runner.too_slow[peer, what] for peer in peers.MPIS
            if (peer, what) in runner.too_slow}


def best_peer(figures):
    return min((figures[peer]["time"] for peer in peers.MPIS if peer in figures), default=None)


def judge(ratio, aim):
    return "" if aim is None or ratio is None else "pass" if ratio >= aim else "miss"


def make_row(runner, case, ranks):
    figures = figures_of(runner, case.label(ranks), ("ours",) + peers.MPIS)
    mine, best = figures.get("ours", {}), best_peer(figures)
    ratio, aim = divide(best, mine.get("time")), case.aim(ranks)
    return {"title": case.label(ranks), "unit": "s", "case": case.title, "program": case.program,
            "ranks": ranks, "figures": figures, "too_slow": too_slow(runner, case.label(ranks)),
            "ratio": ratio, "bound": divide(best, mine.get("computation")), "aim": aim,
            "verdict": judge(ratio, aim)}


def make_hosts_row(runner, case, network):
    """Ours over one of the networks beside the twins over TCP."""
    what = f"{case.title}, {BETWEEN}"
    figures = figures_of(runner, what, (network,) + peers.MPIS)
    mine = figures.get(network, {})
    ratio = divide(best_peer(figures), mine.get("time"))
    alone = figures_of(runner, what, (ONE_HOST,)).get(ONE_HOST, {})
    return {"case": case.title, "network": network, "figures": figures, "ratio": ratio,
            "speed_up": divide(mine.get("rate"), alone.get("rate")),
            "too_slow": too_slow(runner, what), "aim": case.hosts_aim,
            "verdict": judge(ratio, case.hosts_aim)}


def make_weak(rows, same=None):
    """What is left of our throughput where ranks share cores, and what of that with the `same`
    problem where they do not."""
    mine = {row["ranks"]: row["figures"]["ours"] for row in rows if "ours" in row["figures"]}
    rates = {ranks: figure["rate"] for ranks, figure in mine.items()}
    most, fitting = max(rates, default=0), fitting_ranks(rates)
    kept = divide(rates[most], rates[fitting]) if fitting and most > fitting else None
    return {"case": rows[0]["case"], "rates": rates, "kept": kept, "aim": KEPT, "same": same,
            "kept_of_same": divide(rates.get(most), same),
            "unit": next((figure["unit"] for figure in mine.values()), ""),
            "verdict": judge(kept, KEPT)}


def all_weak(options, runner, rows):
    """Of each case whose problem grows with the number of ranks."""
    fitting, most = fitting_ranks(options.ranks), max(options.ranks)
    for case in options.cases:
        if case.weak:
            what = case.as_large_as_on(most).label(fitting)
            same = figures_of(runner, what, ("ours",)).get("ours", {})
            yield make_weak([row for row in rows if row["case"] == case.title], same.get("rate"))


def make_traces(options, failures):
    """Of those that have anything to send."""
    ranks = min(max(options.ranks), TRACED_RANKS)
    for case in options.cases if ranks >= 2 else ():
        try:
            if case.traced:
                yield traces.of_case(options.build, case, ranks)
        except (OSError, ValueError, KeyError, Failure) as error:
            failures.append(f"ours, trace of {case.label(ranks)}: {error}")


def measure_hosts(options, failures):
    """The rows of what runs between hosts."""
    if not options.hosts:
        return []
    cases = [case for case in options.cases if case.hosts_aim]
    with Hosts() as hosts:
        runner = programs.SuiteRunner(options.effort.hosts, options.effort.patience)
        runner.run(plan(options.turns, [list(turns_between(options, hosts, runner, case))
                                        for case in cases]))
    failures += runner.failures
    return [make_hosts_row(runner, case, network) for case in cases for network in programs.NETWORKS]


# ---- the benchmark ------------------------------------------------------------------------------


def list_of_ranks(text):
    try:
        ranks = [int(word) for word in text.split(",")]
    except ValueError:
        ranks = [0]
    if not all(1 <= rank <= 1024 for rank in ranks):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers from 1 to 1024")
    return sorted(set(ranks))


class Suite(driver.Driver):
    name = "suite"
    summary = "The Split-C suite beside its MPI twins."
    quick = "small problems, in a few minutes"
    peers = peers.MPIS
    efforts = {"full": FULL, "quick": QUICK}
    others = {}  # the results of other benchmarks, by name

    def add_options(self, parser):
        parser.add_argument("--ranks", type=list_of_ranks, metavar="LIST", help="default 1,2,4,8")
        parser.add_argument("--turns", type=int, metavar="N", help="how often everybody runs")
        known = list(dict.fromkeys(case.program for case in CASES))
        parser.add_argument("--programs", type=driver.names("program", known), default=known,
                            metavar="LIST", help="some of the programs only")
        parser.add_argument("--hosts", action=argparse.BooleanOptionalAction, default=None,
                            help="also between two hosts made of namespaces, which takes root "
                                 "(default: not if --quick)")
        parser.add_argument("--with", metavar="DIR", dest="others", type=pathlib.Path,
                            help="take what the other benchmarks wrote there into the report, too")
        parser.add_argument("--out", metavar="DIR", type=pathlib.Path,
                            help="write report.html, report.md and plots there")

    def check_options(self, parser, options):
        options.cases = [case for case in CASES if case.program in options.programs]
        options.ranks = options.ranks or options.effort.ranks
        options.turns = options.turns or options.effort.turns
        if options.hosts and os.geteuid() != 0:
            parser.error("--hosts takes root")
        if options.hosts is None:
            options.hosts = not options.quick and os.geteuid() == 0
        options.out = options.out or options.build / "suite"
        options.out.mkdir(parents=True, exist_ok=True)
        options.json = options.json or options.out / "suite.json"
        self.others = {name: results.read(options.others / f"{name}.json") for name in OTHERS
                       if options.others and (options.others / f"{name}.json").exists()}

    def build_peer(self, peer, options):
        return programs.build_twins(peer, options.build)

    def measure(self, options):
        runner = run_here(options)
        rows = [make_row(runner, case, ranks) for case in options.cases for ranks in options.ranks]
        failures = runner.failures
        traced = list(make_traces(options, failures))
        return {"turns": options.turns, "failures": failures, "rows": rows, "traces": traced,
                "hosts": measure_hosts(options, failures),
                "weak": list(all_weak(options, runner, rows))}

    def tables(self, data):
        return tables.tables({**data, **self.others})

    def pictures(self, plt, data):
        return pictures.pictures(plt, data)

    def finish(self, options, data):
        """Write the report."""
        others = [(driver.load(name), other) for name, other in self.others.items()]
        report.write(TITLE, [(self, data), *others], options.out)


DRIVER = Suite()
