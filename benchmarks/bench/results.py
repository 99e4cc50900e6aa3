# SPDX-License-Identifier: BSD-3-Clause
"""What benchmarks measured, and the JSON file that keeps it.

The file is an object.  Every benchmark has these members, and may have more of its own:

  benchmark, when, commit, quick      what ran, when, of which commit (null: unknown), how much
  machine, load_before, load_after    where, and how busy that was
  peers, missing                      versions of other libraries; why the others did not take part
  failures                            a text for each program that failed
  rows                                the results, in the order in which they are shown

A row has a "title", a "unit" (RATES are better when they are higher, others when they are lower)
and "figures", which has for everybody who took part a summary of the samples (estimate.summary).
"""
import dataclasses
import datetime
import functools
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess

from bench import estimate, files, peers, runner
from bench.hosts import SOURCES, cores

RATES = ("M/s", "MB/s", "GB/s")
# Our layers, where they are measured side by side, and everybody whose messages are.
LAYERS = {"unet": "U-Net", "gam": "GAM", "splitc": "Split-C store", "splitc_get": "Split-C get"}
MESSAGE_TITLES = {**LAYERS, **peers.TITLES, "tcp": "TCP", "udp": "UDP"}


# ---- samples ----------------------------------------------------------------------------------


class Samples:
    """Nanoseconds by who measured them and the name of what was measured.

    Each is of the place that `place` names while it is added (distance.py).
    """

    def __init__(self):
        self.values = {}
        self.place = None

    def add(self, who, metric, ns):
        self.values.setdefault((who, metric), []).append((self.place, ns))

    def get(self, who, metric, place=None):
        """All, or those of one place."""
        return [ns for where, ns in self.values.get((who, metric), ())
                if place is None or where == place]

    def median(self, who, metric):
        found = self.get(who, metric)
        return statistics.median(found) if found else None

    def add_lines(self, who, suffix, text, _):
        """Add what a program printed: "METRIC NS" or, for a limit, "raw.METRIC NS" in each line."""
        for line in text.splitlines():
            found = re.fullmatch(r"(raw\.)?(\w+) ([-+.e\d]+)", line)
            if not found:
                raise runner.Failure(f"said '{line}'")
            self.add("raw" if found.group(1) else who, found.group(2) + suffix,
                     float(found.group(3)))

    def step(self, who, what, command, suffix=""):
        """A step of a plan whose output is added, with the suffix behind each metric's name."""
        return runner.Step(who, what, command, functools.partial(self.add_lines, who, suffix))

    def timed_step(self, who, what, command, metric):
        """A step of which the time that the command takes is added."""
        return runner.Step(who, what, command, lambda _, ns: self.add(who, metric, ns))


# ---- rows and aims ----------------------------------------------------------------------------


@dataclasses.dataclass
class Aim:
    """An upper bound of our time: `factor` times that of a column, or `factor` nanoseconds."""

    text: str
    column: str = ""  # "raw", a peer, or "peer" for the best one
    factor: float = 1.0
    who: str = "ours"  # the column of whose time that is

    def met(self, row):
        """True or False; None if something was not measured."""
        ours, bound = row.ns(self.who), row.ns(self.column) if self.column else 1
        return None if ours is None or bound is None else ours <= bound * self.factor


def at_most(factor, column):
    return Aim(f"<= {factor:g}x {column}", column, factor)


def at_most_us(figure):
    return Aim(f"<= {figure:g} us", "", figure * 1e3)


def at_least_million(rate):
    return Aim(f">= {rate:g} M/s", "", 1e3 / rate)


def at_least(factor, column):
    """Of a bandwidth."""
    return Aim(f">= {factor:g}x {column}", column, 1 / factor)


class Row:
    """A result: the samples of everybody who took part, in nanoseconds."""

    COLUMNS = ("ours", "raw") + peers.NAMES

    def __init__(self, name, title, unit, aims=(), metrics=None, size=0):
        self.name = name
        self.title = title
        self.unit = unit  # ns, us, ms, M/s, MB/s or GB/s
        self.size = size  # bytes moved, for MB/s and GB/s
        self.aims = list(aims)
        self.metrics = metrics or {}  # by column, where the metric is not called as the row
        self.samples = {}
        self.is_near = False  # all samples are those of processors near one another

    def collect(self, samples):
        """Take the samples of near processors alone, if everybody has some."""
        def found(place):
            return {column: got for column in self.COLUMNS
                    if (got := samples.get(column, self.metrics.get(column, self.name), place))}

        everywhere, near = found(None), found("near")
        self.is_near = bool(near) and len(near) == len(everywhere)
        self.samples = near if self.is_near else everywhere
        return self

    def ns(self, column):
        """The median of a column; that of the best peer for "peer"."""
        if column == "peer":
            return min((self.ns(peer) for peer in peers.NAMES if self.ns(peer)), default=None)
        return statistics.median(self.samples[column]) if column in self.samples else None

    def in_unit(self, ns):
        return in_unit(ns, self.unit, self.size)

    def ratio(self, column):
        """Ours to theirs, of times or of rates."""
        ours, theirs = self.ns("ours"), self.ns(column)
        return self.in_unit(ours) / self.in_unit(theirs) if ours and theirs else None

    def verdict(self):
        met = [aim.met(self) for aim in self.aims]
        return "miss" if False in met else "pass" if True in met else ""

    def as_json(self):
        return {"name": self.name, "title": self.title, "unit": self.unit,
                "figures": {column: estimate.summary([self.in_unit(ns) for ns in samples])
                            for column, samples in self.samples.items()},
                "ratio_raw": self.ratio("raw"), "ratio_peer": self.ratio("peer"),
                "aims": [{"aim": aim.text, "met": aim.met(self)} for aim in self.aims],
                "near": self.is_near, "verdict": self.verdict()}


def in_unit(ns, unit, size=0):
    """Nanoseconds in a unit; `size` bytes are moved in that time."""
    if unit in RATES:
        return {"M/s": 1e3, "MB/s": 1e3 * size, "GB/s": size}[unit] / ns
    return ns / {"ns": 1, "us": 1e3, "ms": 1e6}[unit]


# ---- the file ---------------------------------------------------------------------------------


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="ascii")
                if line.startswith("model name")), platform.machine())
    return {"cpu": cpu, "cores": cores(), "kernel": platform.release(),
            "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20}


def commit():
    """The commit of the sources, with "-dirty" if they were changed; None if git does not know."""
    try:
        done = subprocess.run(["git", "-C", SOURCES, "describe", "--always", "--dirty",
                               "--exclude=*"], capture_output=True, text=True, timeout=60,
                              check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def make(name, options, load_before, measured):
    """The contents of the file, of what a driver measured."""
    return {"benchmark": name,
            "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": commit(), "quick": options.quick, "machine": machine(),
            "load_before": load_before, "load_after": os.getloadavg()[0],
            "peers": {peer.name: peer.version() for peer in options.peers},
            "missing": options.missing, **measured}


def write(path, data):
    files.write(path, json.dumps(data, indent=1) + "\n")


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
