# SPDX-License-Identifier: BSD-3-Clause
"""Messages by the kernel module beside sockets: two virtual machines with Debian's kernel.

The machines are emulated, so a time says little and the ratio of two times of one run says more.
Where the module's own time goes is counted in instructions, which no load of this machine alters.
"""
import collections
import re
import statistics
import subprocess
import sys

from bench import estimate
from bench.driver import Driver
from bench.hosts import SOURCES
from bench.results import in_unit
from bench.table import Table, number, ratio

METHODS = ["fe", "fe_pieces", "gam", "packet", "udp", "tcp"]
STREAMS = ["fe", "packet", "udp", "tcp"]
SMALL = 40
# Of round trips: who takes at most what part of whose time.
AIMS = [("fe", "udp", 0.55), ("fe", "packet", 0.85), ("fe", "fe_pieces", 0.90), ("gam", "fe", 1.09)]
PAGES = [1, 4, 16]
HIT_SHARE = 0.02
SECTIONS = {
    "send_read": "take the mutex, read the descriptor",
    "send_checked": "check channel and pieces",
    "send_framed": "allocate the frame, write its header",
    "send_filled": "copy the message, or point at it",
    "send_handed": "hand the frame to the device's driver",
    "send_ends": "count, tell what is done",
    "receive_read": "read the header, find the endpoint",
    "receive_found": "find the channel",
    "receive_placed": "copy the message",
    "receive_published": "publish its descriptor, count",
    "receive_rung": "look whether somebody sleeps",
    "receive_ends": "free the frame",
}
INTRODUCTION = """\
Two emulated machines (QEMU, TCG): ratios of one run mean something, times do not.
Receivers look for messages again and again; nobody sleeps."""


# ---- what the machines wrote --------------------------------------------------------------------


class Turns:
    """Nanoseconds of each turn, in the order of rounds, by (what, method, bytes)."""

    def __init__(self, text):
        self.ns = collections.defaultdict(list)
        for what, method, size, ns in re.findall(r"^(send|round_trip|stream) (\w+) (\d+) (\d+)\r?$",
                                                 text, re.MULTILINE):
            self.ns[what, method, int(size)].append(int(ns))

    def sizes(self):
        return sorted({size for what, _, size in self.ns if what == "stream"})

    def ratio(self, mine, theirs):
        """The median over the rounds, in each of which both had their turn."""
        pairs = zip(self.ns["round_trip", mine, SMALL], self.ns["round_trip", theirs, SMALL])
        ratios = [a / b for a, b in pairs]
        return statistics.median(ratios) if ratios else None

    def aims(self):
        for mine, theirs, most in AIMS:
            found = self.ratio(mine, theirs)
            if found is not None:
                yield {"aim": f"{mine}/{theirs} <= {most:g}", "ratio": found, "met": found <= most}

    def figures(self, what, methods, size, unit):
        found = {method: self.ns[what, method, size] for method in methods}
        return {"ours" if method == "fe" else method:
                estimate.summary([in_unit(ns, unit, size) for ns in values])
                for method, values in found.items() if values}


def pins_of(text):
    """Nanoseconds, a median of each round, by what and pages."""
    found = collections.defaultdict(list)
    for what, pages, ns in re.findall(r"^pins (\w+) (\d+) (\d+)\r?$", text, re.MULTILINE):
        found[what, int(pages)].append(int(ns))
    return {f"{what}_{pages}": statistics.median(values)
            for (what, pages), values in found.items()}


def sections_of(text):
    """Instructions of one message, by bytes and section."""
    found = collections.defaultdict(dict)
    for size, name, times, cycles in re.findall(r"^section (\d+) (\w+) (\d+) (\d+)\r?$", text,
                                                re.MULTILINE):
        if int(times):
            found[size][name] = int(cycles) / int(times)
    return dict(found)


def read_log(build, nic, suite):
    log = build / "kernel" / "log" / f"{nic}-{suite}" / "a.log"
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def rows_of(nic, turns):
    yield {"name": f"round_trip_{nic}", "title": f"round trip of {SMALL} bytes, {nic}",
           "unit": "us", "figures": turns.figures("round_trip", METHODS, SMALL, "us"),
           "aims": list(turns.aims())}
    for size in turns.sizes():
        yield {"name": f"stream_{size}_{nic}", "title": f"stream of {size} bytes, {nic}",
               "unit": "MB/s", "aims": [],
               "figures": turns.figures("stream", STREAMS, size, "MB/s")}


# ---- tables -------------------------------------------------------------------------------------


def rows_table(data):
    yield ["", "unit", *METHODS]
    for row in data["rows"]:
        cells = [row["figures"].get("ours" if name == "fe" else name) for name in METHODS]
        yield [row["title"], row["unit"], *(number(cell and cell["median"]) for cell in cells)]


def aims_table(data):
    yield ["of the round trips, round by round", "ratio", ""]
    for row in data["rows"]:
        for aim in row["aims"]:
            yield [f"{row['title']}: {aim['aim']}", ratio(aim["ratio"]),
                   "pass" if aim["met"] else "miss"]


def sends_table(data):
    yield ["", *METHODS]
    yield [f"{SMALL} bytes, tulip",
           *(number(statistics.median(values) if values else None, "{:.0f}")
             for values in map(data["sends"].get, METHODS))]


def sections_table(data):
    found = data["sections"]
    sizes = sorted(found, key=int)
    yield ["", *(f"{size} B" for size in sizes)]
    for part in ("send", "receive"):
        names = [name for name in SECTIONS if name.startswith(part)]
        for name in names:
            yield [f"{part}: {SECTIONS[name]}",
                   *(f"{found[size].get(name, 0):.0f}" for size in sizes)]
        yield [f"{part}: all", *(f"{sum(found[size].get(name, 0) for name in names):.0f}"
                                 for size in sizes)]


def pins_table(found):
    """As the fifth paper's table 1; a put ends when the module has sent it."""
    yield ["pages", *map(str, PAGES)]
    for what, title in (("hit", "hit, us"), ("miss", "miss and pinning, us")):
        yield [title, *(number(found[f"{what}_{n}"] / 1e3) for n in PAGES)]
    share = found["hit_1"] / found["put_1"]
    yield ["put of 4 KiB, us", number(found["put_1"] / 1e3), "", ""]
    yield [f"hit / put <= {HIT_SHARE:g}", ratio(share), "pass" if share <= HIT_SHARE else "miss", ""]


# ---- the benchmark ------------------------------------------------------------------------------


class Kernel(Driver):
    name = "kernel"
    summary = "Messages by the kernel module beside sockets: two virtual machines with Debian's kernel."
    quick = "one network card, in a minute or so"
    peers = ()

    def measure(self, options):
        nics = ["tulip"] if options.quick else ["tulip", "e1000e", "virtio-net-pci"]
        script = SOURCES.parent / "tests" / "kernel" / "run.sh"
        done = subprocess.run([script, options.build, "--nics", ",".join(nics), "--suites",
                               "bench,sections", "--rounds", "10" if options.quick else "25"],
                              stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
        log = read_log(options.build, "tulip", "sections")
        sends = Turns(log).ns
        pins = pins_of(read_log(options.build, "tulip", "bench"))
        return {"failures": ["ours: run.sh failed"] if done.returncode else [],
                "rows": [row for nic in nics
                         for row in rows_of(nic, Turns(read_log(options.build, nic, "bench")))],
                "sections": sections_of(log),
                "pins": pins,
                "sends": {name: sends["send", name, SMALL] for name in METHODS}}

    def tables(self, data):
        yield Table(INTRODUCTION, rows_table(data))
        yield Table("Aims", aims_table(data))
        yield Table("Instructions to send", sends_table(data))
        if data.get("pins"):
            yield Table("Pinned pages, tulip", pins_table(data["pins"]))
        if data["sections"]:
            yield Table("Instructions of one message, tulip", sections_table(data))


DRIVER = Kernel()
