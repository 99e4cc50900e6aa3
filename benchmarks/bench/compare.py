# SPDX-License-Identifier: BSD-3-Clause
"""What got slower between two runs of a benchmark, and how sure that is.

Reads two files that `dev bench` wrote with --json (results.py).  A change is data with its 95 %
confidence interval (bootstrap of the medians), and beside it the change of everybody else in the
same case: where the peers and the machine's limits changed alike, it was the machine.
"""
import argparse
import dataclasses
import math
import random
import statistics
import sys

from bench.results import LAYERS, RATES, read
from bench.table import align

RESAMPLES = 2000
ALPHA = 0.05


class Unreadable(Exception):
    """A file that is none of ours."""


# ---- files ------------------------------------------------------------------------------------


def values_of(figure, unit):
    """The samples, less being better."""
    values = figure["values"]
    return [1 / value if unit in RATES else value for value in values if value > 0]


def cases_of(row):
    """Title and samples of everybody; where several layers of ours took part, those of each."""
    # Files of the suite had no titles and units once.
    title = row["title"] if "title" in row else f"{row['case']}, {row['ranks']} ranks"
    unit = row["unit"] if "unit" in row else "s"
    samples = {who: values_of(figure, unit) for who, figure in row["figures"].items()}
    others = {who: values for who, values in samples.items() if who not in LAYERS}
    layers = [layer for layer in LAYERS if layer in samples]
    if not layers:
        yield title, samples
    for layer in layers:
        yield f"{title}, {LAYERS[layer]}", {**others, "ours": samples[layer]}


def read_cases(path):
    """The whole file, and its samples by title and who took part."""
    try:
        data = read(path)
        cases = [case for row in data["rows"] for case in cases_of(row)]
        return data, {title: samples for title, samples in cases if samples.get("ours")}
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{path} is no file that 'dev bench' wrote with --json "
                         f"({type(error).__name__}: {error})") from error


# ---- statistics ---------------------------------------------------------------------------------


def change(before, after):
    return statistics.median(after) / statistics.median(before)


def interval(before, after):
    """Where the change of the medians lies with 95 % confidence."""
    draw = random.Random(len(before) * 1009 + len(after))
    changes = sorted(change(draw.choices(before, k=len(before)), draw.choices(after, k=len(after)))
                     for _ in range(RESAMPLES))
    return changes[int(RESAMPLES * ALPHA / 2)], changes[int(RESAMPLES * (1 - ALPHA / 2)) - 1]


def change_of_others(before, after):
    """The geometric mean over those who are in both runs; None where nobody is."""
    changes = [change(before[who], after[who]) for who in before
               if who != "ours" and before[who] and after.get(who)]
    return math.exp(statistics.fmean(map(math.log, changes))) if changes else None


def verdict(low, high, others, tolerance):
    if low <= 1 + tolerance and high >= 1 / (1 + tolerance):
        return ""
    if others and low / others <= 1 + tolerance and high / others >= 1 / (1 + tolerance):
        return "machine"
    return "slower" if low > 1 else "faster"


@dataclasses.dataclass
class Comparison:
    """A case of both runs."""

    title: str
    change: float
    low: float
    high: float
    others: float
    verdict: str


def compare(before, after, tolerance):
    for title in [title for title in before if title in after]:
        ours = before[title]["ours"], after[title]["ours"]
        low, high = interval(*ours)
        others = change_of_others(before[title], after[title])
        yield Comparison(title, change(*ours), low, high, others,
                         verdict(low, high, others, tolerance))


# ---- the command line -----------------------------------------------------------------------------


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def lines_of(results, show_all):
    """A line for each result that changed, or for all, those that got slower first."""
    order = ["slower", "faster", "machine", ""]
    for result in sorted(results, key=lambda r: (order.index(r.verdict), -r.change)):
        if show_all or result.verdict:
            yield [f"{result.verdict or 'as before':9}", result.title, "time",
                   percent(result.change), f"({percent(result.low)} to {percent(result.high)})",
                   f"others {percent(result.others)}" if result.others else ""]


def counts_of(results):
    count = [result.verdict for result in results].count
    return (f"{len(results)} cases: {count('slower')} slower, {count('faster')} faster, "
            f"{count('')} as before, {count('machine')} where the machine changed")


def warn_of_differences(before, after):
    for what in ("machine", "quick", "peers"):
        # Some files did not tell once whether the run was quick.
        if what in before and what in after and before[what] != after[what]:
            print(f"compare: the runs differ in '{what}': {before[what]} and {after[what]}",
                  file=sys.stderr)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="dev bench compare",
        description="What got slower between two runs; exit code 1 if anything did.")
    parser.add_argument("before", metavar="A.json")
    parser.add_argument("after", metavar="B.json")
    parser.add_argument("--all", action="store_true", help="also what is as before")
    parser.add_argument("--tolerance", type=float, default=2, metavar="PERCENT",
                        help="changes up to that are none (default %(default)s)")
    options = parser.parse_args(arguments)
    if not 0 <= options.tolerance <= 100:
        parser.error("--tolerance is a percentage from 0 to 100")
    return options


def compare_files(options):
    """Print what changed; true if anything got slower."""
    told_before, before = read_cases(options.before)
    told_after, after = read_cases(options.after)
    warn_of_differences(told_before, told_after)
    for title in sorted(before.keys() ^ after.keys()):
        print(f"compare: only one of the runs has '{title}'", file=sys.stderr)
    results = list(compare(before, after, options.tolerance / 100))
    if not results:
        raise Unreadable("the runs have no case in common")
    for line in align(list(lines_of(results, options.all)), left=3):
        print(line)
    print(counts_of(results))
    return any(result.verdict == "slower" for result in results)


def main(arguments):
    """0, 1 if anything got slower, or 2 if a file cannot be read."""
    try:
        return 1 if compare_files(parse(arguments)) else 0
    except Unreadable as trouble:
        print(f"compare: {trouble}", file=sys.stderr)
        return 2
