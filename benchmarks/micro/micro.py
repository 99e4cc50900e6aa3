#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Micro-benchmarks: ours beside the machine's limits and beside MPICH, Open MPI and UCX.

Every group of operations is measured by everybody in turn, several times over, in one run:
machines are noisy, so what counts is the ratio.  A program prints a line "metric nanoseconds"
for each batch (measure.h); all batches of all turns make the medians.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import estimate  # pylint: disable=wrong-import-position

SOURCES = pathlib.Path(__file__).resolve().parent.parent
PEERS = ("mpich", "openmpi", "ucx")
COLUMNS = ("ours", "raw") + PEERS


# ---- who takes part --------------------------------------------------------------------


class Peer:
    """Somebody else's library: how to build its programs and to start them."""

    def __init__(self, name, compiler, source, libraries=(), launcher=()):
        self.name = name
        self.compiler = compiler
        self.source = source
        self.libraries = list(libraries)
        self.launcher = list(launcher)
        self.program = None
        self.version = None

    def missing(self):
        """The tool that is not there, or None."""
        return next((tool for tool in (self.compiler, *self.launcher[:1])
                     if not shutil.which(tool)), None)

    def build(self, folder):
        """Why it cannot be had, or None."""
        tool = self.missing()
        if tool:
            return f"no {tool}"
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / self.name
        made = subprocess.run([self.compiler, "-std=gnu11", "-O3", "-Wall",
                               SOURCES / "peers" / self.source, "-o", program, *self.libraries],
                              capture_output=True, text=True, timeout=120, check=False)
        if made.returncode != 0:
            return "does not build: " + first_line(made.stderr)
        self.program = str(program)
        self.version = self.find_version()
        return None

    def find_version(self):
        command = ["ucx_info", "-v"] if self.name == "ucx" else [self.launcher[0], "--version"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except OSError:
            told = subprocess.run(["pkg-config", "--modversion", self.name], capture_output=True,
                                  text=True, timeout=20, check=False)
        found = re.search(r"\d+\.\d+[.\w]*", told.stdout)
        return found.group(0) if found else "unknown"

    def command(self, ranks, *arguments):
        return self.launch(ranks) + [self.program, *arguments]

    def launch(self, ranks):
        return []


class Mpich(Peer):
    def launch(self, ranks):
        return [*self.launcher, "-bind-to", "core" if ranks <= cores() else "none", "-n", str(ranks)]


class OpenMpi(Peer):
    def launch(self, ranks):
        bind = ["--bind-to", "core" if ranks <= cores() else "none"]
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return [*self.launcher, *root, *bind, "--oversubscribe", "-n", str(ranks)]


def all_peers():
    return [Mpich("mpich", "mpicc.mpich", "mpi.c", launcher=["mpiexec.hydra"]),
            OpenMpi("openmpi", "mpicc.openmpi", "mpi.c", launcher=["mpirun.openmpi"]),
            Peer("ucx", "gcc", "ucx.c", libraries=["-lucp", "-lucs"])]


def cores():
    return len(os.sched_getaffinity(0))


# ---- what is measured --------------------------------------------------------------------


@dataclasses.dataclass
class Group:
    """Operations that one program measures."""

    title: str
    commands: dict  # column: command; None in the place of a peer's program
    suffix: str = ""  # of the metrics' names, where a group is measured for several sizes
    timed: bool = False  # what is measured is the command itself


@dataclasses.dataclass
class Aim:
    """What a figure is compared with: at most `factor` times another column, or a figure."""

    text: str
    column: str = ""  # "raw", "peer" (the best one) or "" for a figure in nanoseconds
    factor: float = 1.0

    def met(self, row):
        other = self.factor if not self.column else row.ns(self.column)
        if other is None or row.ns("ours") is None:
            return None
        return row.ns("ours") <= (other * self.factor if self.column else other)


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
    """One line of the table: the samples of everybody, in nanoseconds."""

    def __init__(self, name, title, unit, aims=(), metrics=None, size=0):
        self.name = name
        self.title = title
        self.unit = unit  # ns, us, ms, M/s or GB/s
        self.size = size  # bytes moved, for GB/s
        self.aims = list(aims)
        self.metrics = metrics or {}  # column: metric, where it is not called as the row
        self.samples = {}

    def collect(self, samples):
        for column in COLUMNS:
            found = samples.get((column, self.metrics.get(column, self.name)))
            if found:
                self.samples[column] = found

    def ns(self, column):
        """The median; "peer" is the best of the peers."""
        if column == "peer":
            known = [self.ns(peer) for peer in PEERS if self.ns(peer)]
            return min(known, default=None)
        samples = self.samples.get(column)
        return statistics.median(samples) if samples else None

    def in_unit(self, ns):
        return {"ns": ns, "us": ns / 1e3, "ms": ns / 1e6, "M/s": 1e3 / ns,
                "GB/s": self.size / ns}[self.unit]

    def ratio(self, column):
        """Ours to theirs, as the aims have it: of times, or of rates."""
        ours, theirs = self.ns("ours"), self.ns(column)
        if not ours or not theirs:
            return None
        return self.in_unit(ours) / self.in_unit(theirs)

    def verdict(self):
        results = [aim.met(self) for aim in self.aims]
        if False in results:
            return "miss"
        return "pass" if True in results else ""

    def as_json(self):
        columns = {}
        for column, samples in self.samples.items():
            columns[column] = estimate.summary([self.in_unit(ns) for ns in samples])
        return {"name": self.name, "title": self.title, "unit": self.unit, "figures": columns,
                "ratio_raw": self.ratio("raw"), "ratio_peer": self.ratio("peer"),
                "aims": [{"aim": aim.text, "met": aim.met(self)} for aim in self.aims],
                "verdict": self.verdict()}


@dataclasses.dataclass
class Effort:
    """How much of everything."""

    turns: int
    millis: int  # for each operation and turn
    table_mib: int
    sizes: list
    ranks: list
    starts: list
    limit: int  # seconds for all
    each: int  # seconds for a program


FULL = Effort(turns=5, millis=60, table_mib=1024, limit=480, each=60,
              sizes=[64, 512, 4096, 65536, 1 << 19, 4 << 20, 64 << 20],
              ranks=[2, 4, 8, 16, 32], starts=[1, 2, 4, 8, 16])
QUICK = Effort(turns=3, millis=20, table_mib=64, limit=110, each=15,
               sizes=[64, 4096, 65536, 4 << 20], ranks=[2, 4, 8, 32], starts=[1, 16])
TINY = Effort(turns=1, millis=1, table_mib=1, limit=60, each=15, sizes=[64, 4096], ranks=[2],
              starts=[1])


def table_mib(wanted):
    """A power of two that two ranks can have without a strain."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    while wanted > 1 and wanted > memory / 8:
        wanted //= 2
    return wanted


def ours(build, ranks, program, *arguments):
    return [f"{build}/bin/unetrun", "-n", str(ranks), f"{build}/benchmarks/micro_{program}",
            *arguments]


def all_groups(build, effort):
    millis = str(effort.millis)
    sizes = [str(size) for size in effort.sizes]
    raw = f"{build}/bin/micro_raw"
    yield Group("messages and accesses",
                {"ours": ours(build, 2, "am", millis), "raw": [raw, "pair", millis],
                 "mpich": (2, "pair", millis), "openmpi": (2, "pair", millis), "ucx": (2, "pair", millis)})
    yield Group("accesses, kind by kind",
                {"ours": ours(build, 2, "access", millis, str(table_mib(effort.table_mib)))})
    yield Group("bulk transfers",
                {"ours": ours(build, 2, "bulk", millis, *sizes),
                 **{mpi: (2, "bulk", millis, *sizes) for mpi in ("mpich", "openmpi")}})
    for ranks in effort.ranks:
        yield Group(f"collectives of {ranks}",
                    {"ours": ours(build, ranks, "collective", millis),
                     "raw": [raw, "pair", millis] if ranks == 2
                     else [raw, "barrier", millis, str(ranks)],
                     **{mpi: (ranks, "collective", millis) for mpi in ("mpich", "openmpi")}},
                    suffix=f"_{ranks}")
    yield Group("allocation",
                {"ours": ours(build, 2, "allocation", millis), "raw": [raw, "malloc", millis],
                 **{mpi: (2, "allocation", millis) for mpi in ("mpich", "openmpi")}})
    for ranks in effort.starts:
        yield Group(f"start of {ranks}",
                    {"ours": ours(build, ranks, "start"), "raw": [raw, "start", str(ranks)],
                     **{mpi: (ranks, "start") for mpi in ("mpich", "openmpi")}},
                    suffix=f"_{ranks}", timed=True)


def access_rows():
    accesses = {peer: "read" for peer in PEERS}
    for pattern in "list", "dependent", "independent":
        for kind in "static", "heap", "stack", "spread":
            yield Row(f"read_{pattern}_{kind}", f"read, {pattern}, {kind}", "ns",
                      [at_most(1.1, "raw")], accesses)
    yield Row("read_random", "read, random, large table", "ns", [at_most(1.1, "raw")])
    yield Row("write", "write", "ns", [at_most(1.1, "raw")])
    yield Row("get", "get, many per sync", "ns", [at_most(1.1, "raw")])
    yield Row("put", "put, many per sync", "ns", [at_most(1.1, "raw")])
    yield Row("store", "signalling store", "ns")
    yield Row("fetch_add", "fetch_add", "ns")


def bulk_rows(sizes):
    for direction in "read", "write":
        for size in sizes:
            aims = [at_least(0.95, "raw")] if size in (65536, 4 << 20) else []
            yield Row(f"bulk_{direction}_{size}", f"bulk_{direction}, {size_text(size)}", "GB/s",
                      aims, size=size)


def collective_rows(ranks):
    aims = {8: [at_most_us(6)], 32: [at_most_us(40)]} if cores() == 2 else {}
    for count in ranks:
        aim = [at_most(1.0, "raw")] if count == 2 else aims.get(count, [])
        raw = {"raw": "line_round_trip_2"} if count == 2 else {}
        yield Row(f"barrier_{count}", f"barrier, {count} ranks", "us", aim, raw)
        yield Row(f"reduce_int_{count}", f"reduction, int, {count} ranks", "us")
        yield Row(f"reduce_double_{count}", f"reduction, double, {count} ranks", "us")
        yield Row(f"broadcast_{count}", f"broadcast, {count} ranks", "us")


def all_rows(effort):
    yield Row("am_round_trip", "AM request and reply", "ns",
              [at_most(1.25, "raw"), at_most(0.7, "peer")])
    yield Row("am_one_way", "AMs one way", "M/s", [at_least_million(60)])
    yield from access_rows()
    yield from bulk_rows(effort.sizes)
    yield from collective_rows(effort.ranks)
    yield Row("malloc", "malloc and free", "ns")
    yield Row("spread_malloc", "all_spread_malloc and free", "us")
    for count in effort.starts:
        aims = [Aim("<= 1x mpich", "mpich")] if count == 16 else []
        yield Row(f"start_{count}", f"start and end, {count} ranks", "ms", aims)


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


# ---- measuring -----------------------------------------------------------------------------


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


def end(process):
    """It and what it started: it leads a group of its own."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(5)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def run(command, seconds):
    """Its output and how long it took, in ns; raises RuntimeError."""
    start = time.monotonic_ns()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise RuntimeError(f"not done after {seconds:.0f} s") from None
        except BaseException:
            end(process)
            raise
    if process.returncode != 0:
        raise RuntimeError(first_line(err))
    return out, time.monotonic_ns() - start


def parse(column, text, suffix):
    """(column, metric) and value of each line."""
    for line in text.splitlines():
        found = re.fullmatch(r"(raw\.)?(\w+) ([-+.e\d]+)", line)
        if not found:
            raise RuntimeError(f"said '{line}'")
        metric = found.group(2) + suffix
        yield ("raw" if found.group(1) else column, metric), float(found.group(3))


class Measurement:
    def __init__(self, groups, peers, effort):
        self.groups = list(groups)
        self.peers = {peer.name: peer for peer in peers}
        self.effort = effort
        self.deadline = time.monotonic() + effort.limit
        self.samples = {}
        self.failures = []
        self.steps = 0

    def run_all(self):
        for group in self.groups:
            out = set()  # of this group's next turns
            for _ in range(self.effort.turns):
                for column, command in group.commands.items():
                    if column not in out and not self.run_one(group, column, command):
                        out.add(column)
            self.steps += 1
        self.show("")

    def run_one(self, group, column, command):
        """False when there is no use in another turn."""
        if column in PEERS:
            if column not in self.peers:
                return False
            command = self.peers[column].command(*command)
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.fail(group, column, "no time was left")
            return False
        self.show(f"{group.title}: {column}")
        try:
            text, ns = run(command, min(self.effort.each, left + 1))
            found = [((column, "start" + group.suffix), ns)] if group.timed \
                else list(parse(column, text, group.suffix))
        except (OSError, RuntimeError) as error:
            self.fail(group, column, str(error))
            return False
        for key, value in found:
            self.samples.setdefault(key, []).append(value)
        return True

    def fail(self, group, column, why):
        self.failures.append(f"{column}, {group.title}: {why}")

    def show(self, what):
        if sys.stderr.isatty():
            left = max(0, self.deadline - time.monotonic())
            text = f"[{self.steps}/{len(self.groups)}] {what}  (at most {left:.0f} s more)"
            print("\r\033[K" + (text if what else ""), end="", file=sys.stderr, flush=True)


# ---- telling ---------------------------------------------------------------------------------


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="ascii")
                if line.startswith("model name")), platform.machine())
    return {"cpu": cpu, "cores": cores(), "kernel": platform.release(),
            "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20}


def figure(value):
    if value is None:
        return "-"
    return f"{value:.{2 if value < 10 else 1 if value < 1000 else 0}f}"


def print_table(rows, measurement):
    columns = ["ours", "raw"] + [name for name in PEERS if name in measurement.peers]
    print(f"{'':30} {'unit':>5}" + "".join(f" {column:>9}" for column in columns) +
          f" {'95 % of ours':>19} {'/raw':>6} {'/peer':>6}  aim")
    for row in rows:
        cells = [figure(row.in_unit(row.ns(column)) if row.ns(column) else None)
                 for column in columns]
        print(f"{row.title:30} {row.unit:>5}" + "".join(f" {cell:>9}" for cell in cells) +
              f" {spread(row):>19} {figure(row.ratio('raw')):>6} {figure(row.ratio('peer')):>6}  " +
              "; ".join(f"{aim.text} {verdict_of(aim, row)}" for aim in row.aims))
    for failure in measurement.failures:
        print("failed:", failure)


def spread(row):
    """Where the median lies with 95 % confidence."""
    mine = row.as_json()["figures"].get("ours")
    return f"{figure(mine['low'])}..{figure(mine['high'])}" if mine else "-"


def verdict_of(aim, row):
    return {True: "pass", False: "MISS", None: "?"}[aim.met(row)]


def report(rows, measurement, load, missing):
    return {"when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(), "load_before": load[0], "load_after": os.getloadavg()[0],
            "peers": {peer.name: peer.version for peer in measurement.peers.values()},
            "missing": missing, "failures": measurement.failures,
            "rows": [row.as_json() for row in rows]}


def arguments():
    parser = argparse.ArgumentParser(
        prog="dev bench micro", description="Micro-benchmarks beside the machine's limits and peers.")
    parser.add_argument("--quick", action="store_true", help="in under two minutes")
    parser.add_argument("--tiny", action="store_true", help="just enough to see that it works")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--peers", metavar="LIST",
                        help=f"of {','.join(PEERS)}, or none (default: those that are installed)")
    add_build(parser)
    options = parser.parse_args()
    options.names = peer_names(parser, options.peers)
    return options


def add_build(parser):
    """The build folder, wherever a command will be started."""
    parser.add_argument("--build", type=os.path.abspath, default=SOURCES.parent / "build",
                        help=argparse.SUPPRESS)


def peer_names(parser, wanted):
    """Those of a list with commas; all without one."""
    if wanted is None:
        return list(PEERS)
    names = [name for name in wanted.split(",") if name not in ("", "none")]
    for name in names:
        if name not in PEERS:
            parser.error(f"no peer '{name}': there are {', '.join(PEERS)}")
    return names


def choose_peers(options):
    peers, missing = [], {}
    for peer in all_peers():
        if peer.name not in options.names:
            continue
        why = peer.build(pathlib.Path(options.build) / "benchmarks" / "peers")
        if why:
            missing[peer.name] = why
            print(f"micro: without {peer.name}: {why}", file=sys.stderr)
        else:
            peers.append(peer)
    return peers, missing


def main():
    options = arguments()
    effort = TINY if options.tiny else QUICK if options.quick else FULL
    load = os.getloadavg()
    if load[0] > 0.5 and not options.tiny:
        print(f"micro: the machine is busy (load {load[0]:.1f}): only ratios mean anything",
              file=sys.stderr)
    peers, missing = choose_peers(options)
    measurement = Measurement(all_groups(options.build, effort), peers, effort)
    measurement.run_all()
    rows = list(all_rows(effort))
    for row in rows:
        row.collect(measurement.samples)
    print_table(rows, measurement)
    if options.json:
        text = json.dumps(report(rows, measurement, load, missing), indent=1)
        pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")
    return 1 if any(failure.startswith(("ours", "raw")) for failure in measurement.failures) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
