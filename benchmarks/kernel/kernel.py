#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages by the kernel module beside sockets: two virtual machines with Debian's kernel.

The machines are emulated, so a time says little and the ratio of two times of one run says more.
Where the module's own time goes is counted in instructions, which no load of this machine alters.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
SOURCES = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCES / "micro"))
import estimate  # pylint: disable=wrong-import-position
import micro  # pylint: disable=wrong-import-position

METHODS = ["fe", "fe_pieces", "gam", "packet", "udp", "tcp"]
STREAMS = ["fe", "packet", "udp", "tcp"]
SMALL = 40
# Of round trips: who takes at most what part of whose time.
AIMS = [("fe", "udp", 0.55), ("fe", "packet", 0.85), ("fe", "fe_pieces", 0.90), ("gam", "fe", 1.09)]
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


# ---- what the machines wrote ------------------------------------------------------------------


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


def sections_of(text):
    """Instructions of one message, by bytes and section."""
    found = collections.defaultdict(dict)
    for size, name, times, cycles in re.findall(r"^section (\d+) (\w+) (\d+) (\d+)\r?$", text,
                                                re.MULTILINE):
        if int(times):
            found[int(size)][name] = int(cycles) / int(times)
    return dict(found)


def read_log(build, nic, suite):
    log = pathlib.Path(build) / "kernel" / "log" / f"{nic}-{suite}" / "a.log"
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


# ---- telling ------------------------------------------------------------------------------------


def verdicts(turns):
    """(text, ratio, whether the aim is met) of each aim."""
    for mine, theirs, most in AIMS:
        ratio = turns.ratio(mine, theirs)
        if ratio is not None:
            yield f"{mine}/{theirs} <= {most:g}", ratio, ratio <= most


def figures_of(turns, what, methods, size, unit_of):
    figures = {}
    for method in methods:
        values = [unit_of(ns) for ns in turns.ns[what, method, size]]
        if values:
            figures["ours" if method == "fe" else method] = estimate.summary(values)
    return figures


def rows_of(nic, turns):
    yield {"name": f"round_trip_{nic}", "title": f"round trip of {SMALL} bytes, {nic}",
           "unit": "us",
           "figures": figures_of(turns, "round_trip", METHODS, SMALL, lambda ns: ns / 1e3),
           "aims": [{"aim": text, "ratio": ratio, "met": met}
                    for text, ratio, met in verdicts(turns)]}
    for size in turns.sizes():
        yield {"name": f"stream_{size}_{nic}", "title": f"stream of {size} bytes, {nic}",
               "unit": "MB/s", "aims": [],
               "figures": figures_of(turns, "stream", STREAMS, size,
                                     lambda ns, bytes=size: bytes * 1e3 / ns)}


def print_rows(rows):
    print(f"{'':36} {'unit':>4}" + "".join(f" {name:>9}" for name in METHODS))
    for row in rows:
        cells = [row["figures"].get("ours" if name == "fe" else name) for name in METHODS]
        print(f"{row['title']:36} {row['unit']:>4}" +
              "".join(f" {micro.figure(cell and cell['median']):>9}" for cell in cells))
        for aim in row["aims"]:
            print(f"    {aim['aim']}: {aim['ratio']:.2f} {'pass' if aim['met'] else 'MISS'}")


def print_sends(turns, nic):
    cells = [turns.ns["send", name, SMALL] for name in METHODS]
    print(f"\n{f'instructions to send {SMALL} bytes, {nic}':41}" +
          "".join(f" {micro.figure(cell and statistics.median(cell)):>9}" for cell in cells))


def print_sections(sections, nic):
    if not sections:
        return
    sizes = sorted(sections)
    print(f"\n{'instructions of one message, ' + nic:45}" +
          "".join(f"{size:>7} B" for size in sizes))
    for part in ("send", "receive"):
        names = [name for name in SECTIONS if name.startswith(part)]
        for name in names:
            print(f"{part:8} {SECTIONS[name]:36}" +
                  "".join(f" {sections[size].get(name, 0):>8.0f}" for size in sizes))
        print(f"{part:8} {'all':36}" + "".join(
            f" {sum(sections[size].get(name, 0) for name in names):>8.0f}" for size in sizes))


# ---- all of it ----------------------------------------------------------------------------------


def run_machines(options, nics, rounds):
    script = SOURCES.parent / "tests" / "kernel" / "run.sh"
    done = subprocess.run([script, options.build, "--nics", nics, "--suites", "bench,sections",
                           "--rounds", str(rounds)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout, file=sys.stderr)
    return done.returncode


def arguments():
    parser = argparse.ArgumentParser(prog="dev bench kernel", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one network card, in a minute or so")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    micro.add_build(parser)
    return parser.parse_args()


def main():
    options = arguments()
    nics = "tulip" if options.quick else "tulip,e1000e,virtio-net-pci"
    load = os.getloadavg()
    code = run_machines(options, nics, 10 if options.quick else 25)
    rows = [row for nic in nics.split(",")
            for row in rows_of(nic, Turns(read_log(options.build, nic, "bench")))]
    log = read_log(options.build, "tulip", "sections")
    sections = sections_of(log)
    sends = Turns(log)
    print("Two emulated machines (QEMU, TCG): ratios of one run mean something, times do not.\n"
          "Receivers look for messages again and again; nobody sleeps.\n")
    print_rows(rows)
    print_sends(sends, "tulip")
    print_sections(sections, "tulip")
    if options.json:
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        report = {"when": now, "machine": micro.machine(), "load_before": load[0],
                  "load_after": os.getloadavg()[0], "rows": rows, "sections": sections,
                  "sends": {name: sends.ns["send", name, SMALL] for name in METHODS}}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
