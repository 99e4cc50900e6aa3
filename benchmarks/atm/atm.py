# SPDX-License-Identifier: BSD-3-Clause
"""U-Net/ATM: the figures of the papers, of today's cells beside today's Ethernet and sockets.

All sides are processes of this machine.  Cells go through a switch (unetatm), frames over lo; the
papers had cards, fibres and machines of 60 MHz, so that only ratios are put beside theirs.
"""
import contextlib
import os
import pathlib
import subprocess
import tempfile

from bench import estimate, plots, table
from bench.driver import Driver, Effort
from bench.results import Samples, in_unit
from bench.runner import Runner

WORD = 4  # bytes that a PDU has beside the message
CELL, TRAILER = 48, 8
SMALL = 36  # bytes of message in a single cell: a PDU of 40
FE_LONGEST = 1400
UAM_PACKET = 4160
# Who takes part, by column: the source of its lines, their prefix, and its name.
WHO = {
    "atm": ("atm", "unet_", "U-Net, atm"), "atm_am": ("atm", "gam_", "AM, atm"),
    "eth": ("eth", "unet_", "U-Net, eth"), "eth_am": ("eth", "gam_", "AM, eth"),
    "ni": ("ni", "unet_", "U-Net, ni"), "ni_am": ("ni", "gam_", "AM, ni"),
    "udp": ("udp", "udp_", "UDP of the kernel"), "tcp": ("tcp", "tcp_", "TCP of the kernel"),
}
IP = {"ip_unet": "U-Net beside those, atm", "ip_udp": "UDP over U-Net, atm", "ip_tcp": "TCP over U-Net, atm"}
NAMES = {**{who: name for who, (_, _, name) in WHO.items()}, **IP}
NOTE = "Sizes are of messages; a PDU has 4 bytes more. Medians, of processes of one machine."
CROWDED = ("The switch of cells and the service ni are a third process, and this machine has {} "
           "core(s): round trips of atm and ni are mostly waiting for a core, so that ratios of "
           "those to eth, or between numbers of cells, say little of ATM here.")


def last_of_cells(cells):
    """The longest message that goes in so many cells."""
    return cells * CELL - TRAILER - WORD


STEPS = [size for cells in (1, 2, 3, 4) for size in (last_of_cells(cells), last_of_cells(cells) + 1)]
FULL = Effort(turns=5, millis=40, limit=420, each=60,
              sizes=sorted({4, 16, *STEPS, 256, 512, 800, 1024, FE_LONGEST, 2048, 4096, UAM_PACKET,
                            UAM_PACKET + 4, 16384}))
QUICK = Effort(turns=3, millis=10, limit=100, each=40,
               sizes=sorted({4, *STEPS[:4], 256, 1024, FE_LONGEST, 4096}))
TINY = Effort(turns=1, millis=1, limit=60, each=30, sizes=[4, *STEPS[:3], 1024, FE_LONGEST, 4096])


# ---- who runs what --------------------------------------------------------------------------------


class Service:
    """A context in which unetni serves on lo; its socket's path is `path`, None where it is not."""

    def __init__(self, build):
        self.program = f"{build}/bin/unetni"
        self.path = None
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-atm-"))
        path = f"{folder}/unetni"
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen([self.program, "--interface", "lo", "--wire", "udp",
                                    "--socket", path], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        self.stack.callback(process.stdout.close)
        self.stack.callback(process.wait)
        self.stack.callback(process.terminate)
        while process.poll() is None and not pathlib.Path(path).exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
        self.path = path if process.poll() is None else None
        return self

    def __exit__(self, *_):
        self.stack.close()


def commands(options, service):
    """By the source of their lines, everybody who can take part here."""
    build, millis = options.build, str(options.effort.millis)
    sizes = [str(size) for size in options.effort.sizes]
    within = [f"{build}/bin/unetatm"]

    def bench(mode):
        return [f"{build}/bin/net_bench", mode, millis, "lo", "0", "0", *sizes]

    yield "atm", [*within, *bench("our_atm_sizes")]
    if os.geteuid() == 0:
        yield "eth", bench("our_eth_sizes")
    if service.path:
        yield "ni", ["env", f"UNET_NI_SOCKET={service.path}", *bench("our_ni_sizes")]
    yield "udp", bench("udp_sizes")
    yield "tcp", bench("tcp_sizes")
    if pathlib.Path(f"{build}/bin/ip_bench").exists():
        for who in "unet", "udp", "tcp":
            for kind in "rtt", "bulk":
                if kind == "rtt" or who == "tcp":
                    yield f"ip_{who}", [*within, f"{build}/bin/ip_bench", who, "atm", kind,
                                        str(SMALL), millis, "lo", "0", "0"]


def lost_datagram(failure):
    """Nothing repeats a datagram over U-Net.  Without an answer the program ends: no figure."""
    return failure.startswith("ip_udp,") and failure.endswith("what was lost failed")


# ---- rows -----------------------------------------------------------------------------------------


def samples_of(samples, who, what, size):
    if who in IP:
        metric = f"rtt_{size}" if what == "round_trip" else "stream"
        return samples.get(who, metric) if what == "round_trip" or size == 1500 else []
    source, prefix, _ = WHO[who]
    return samples.get(source, f"{prefix}{what}_{size}")


def rows_of(samples, sizes):
    """A row for each size: everybody's round trip, and bandwidth."""
    for what, title, unit in (("round_trip", "round trip", "us"), ("stream", "bandwidth", "MB/s")):
        for size in sorted({*sizes, 1500} if what == "stream" else sizes):
            found = {who: estimate.summary([in_unit(ns, unit, size) for ns in values])
                     for who in NAMES if (values := samples_of(samples, who, what, size))}
            if found:
                yield {"name": f"{what}_{size}", "what": what, "size": size, "unit": unit,
                       "title": f"{title} of {size} bytes", "figures": found}


# ---- ratios beside the papers' ----------------------------------------------------------------------


class Medians:
    """Medians by what, column and size; those that are missing are None."""

    def __init__(self, rows):
        self.rows = {(row["what"], row["size"]): row["figures"] for row in rows}

    def get(self, what, who, size):
        figure = self.rows.get((what, size), {}).get(who)
        return figure["median"] if figure else None

    def trip(self, who, size=SMALL):
        return self.get("round_trip", who, size)

    def rate(self, who, size):
        return self.get("stream", who, size)

    def slope(self, who, first, last):
        """Of round trips, from one size to another; None if it is nothing that could be measured."""
        low, high = self.trip(who, first), self.trip(who, last)
        return (high - low) / (last - first) if low and high and high > low else None


def divide(a, b):
    return a / b if a and b else None


def ratios(rows):
    """(what, where the papers have it, their ratio, ours or None), in the papers' order.

    S is the SOSP paper of 1995, F the one that compares Fast Ethernet and ATM.
    """
    m = Medians(rows)
    two = last_of_cells(2)
    further = m.slope("atm", two, FE_LONGEST)
    yield ("second cell: round trip of 2 cells to 1, PDUs of 41 and 40 bytes", "S fig. 3", 120 / 65,
           divide(m.trip("atm", SMALL + 1), m.trip("atm")))
    yield ("the same", "F fig. 5", 130 / 89, divide(m.trip("atm", SMALL + 1), m.trip("atm")))
    yield ("each further cell, to the round trip of 1", "S fig. 3", 6 / 65,
           divide(further and further * CELL, m.trip("atm")))
    yield ("active message to raw U-Net, round trip", "S table 3", 71 / 65,
           divide(m.trip("atm_am"), m.trip("atm")))
    yield ("UDP over U-Net to raw U-Net, round trip", "S table 3, fig. 9", 138 / 65,
           divide(m.trip("ip_udp"), m.trip("ip_unet")))
    yield ("TCP over U-Net to raw U-Net, round trip", "S table 3, fig. 9", 157 / 65,
           divide(m.trip("ip_tcp"), m.trip("ip_unet")))
    yield ("active messages to raw U-Net, bandwidth at 4 KiB", "S table 3, fig. 4", 118 / 120,
           divide(m.rate("atm_am", 4096), m.rate("atm", 4096)))
    yield ("co-processor to trap, round trip (SBA-200 and SBA-100; ni and eth)", "S 4.1, 4.2",
           65 / 66, divide(m.trip("ni"), m.trip("eth")))
    yield ("ATM to Ethernet, round trip of 40 bytes (hub; atm and eth)", "F fig. 5", 89 / 57,
           divide(m.trip("atm"), m.trip("eth")))
    yield ("ATM to Ethernet, each further byte of a round trip", "F fig. 5", 17 / 25,
           divide(further, m.slope("eth", two, FE_LONGEST)))


def as_json(found):
    return [{"what": what, "where": where, "paper": paper, "ours": ours}
            for what, where, paper, ours in found]


def note(data):
    """Each side of a program looks for messages all the time, on a core of its own if there are two."""
    count = data["machine"]["cores"]
    return NOTE if count >= 3 else f"{NOTE} {CROWDED.format(count)}"


# ---- tables -----------------------------------------------------------------------------------------


def sizes_table(data, what, title, unit):
    rows = [row for row in data["rows"] if row["what"] == what]
    who = [name for name in NAMES if any(name in row["figures"] for row in rows)]
    lines = [["bytes", *(NAMES[name] for name in who), "cells"]]
    for row in rows:
        found = row["figures"]
        lines.append([str(row["size"]),
                      *(table.number(found[name]["median"]) if name in found else "-"
                        for name in who),
                      str(-(-(row["size"] + WORD + TRAILER) // CELL))])
    return table.Table(f"U-Net/ATM: {title}, {unit}", lines, note(data))


def ratios_table(data):
    return table.Table(
        "U-Net/ATM: ratios beside the papers' own",
        [["", "paper", "its ratio", "ours"],
         *([one["what"], one["where"], table.number(one["paper"]), table.number(one["ours"])]
           for one in data["ratios"])],
        "S: U-Net, SOSP 1995; F: Fast Ethernet versus ATM. Not measured here: -. " + note(data))


class Atm(Driver):
    name = "atm"
    summary = "U-Net/ATM beside Ethernet, the co-processor and sockets, and beside the papers' ratios."
    quick = "in under two minutes"
    peers = ()
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}

    def check_options(self, parser, options):
        options.peers = []

    def measure(self, options):
        samples = Samples()
        runner = Runner(self.name, options.effort.limit, options.effort.each)
        with Service(options.build) as service:
            everybody = list(commands(options, service))
            runner.run(samples.step(who, " ".join(command[:4]), command)
                       for _ in range(options.effort.turns) for who, command in everybody)
        rows = list(rows_of(samples, options.effort.sizes))
        lost = [text for text in runner.failures if lost_datagram(text)]
        return {"failures": [text for text in runner.failures if text not in lost], "lost": lost,
                "rows": rows, "ratios": as_json(ratios(rows))}

    def tables(self, data):
        return [ratios_table(data), sizes_table(data, "round_trip", "round trips", "us"),
                sizes_table(data, "stream", "bandwidth", "MB/s")]

    def terminal_tables(self, data):
        yield from self.tables(data)
        print(f"{self.name}: {note(data)}")
        for text in data["lost"]:
            print(f"without a figure, for no answer came: {text}")

    def pictures(self, plt, data):
        for what, title, unit in (("round_trip", "round trips", "us"),
                                  ("stream", "bandwidth", "MB/s")):
            figure, axes = plt.subplots(figsize=(7, 4))
            for who, name in NAMES.items():
                points = [(row["size"], row["figures"][who]["median"]) for row in data["rows"]
                          if row["what"] == what and who in row["figures"]]
                if points:
                    axes.plot(*zip(*points), marker=".", label=name)
            axes.set_xscale("log", base=2)
            axes.set_xlabel("bytes")
            axes.set_ylabel(unit)
            axes.legend(fontsize="small")
            yield plots.Picture(f"U-Net/ATM: {title}", f"atm_{what}", figure)
            plt.close(figure)


DRIVER = Atm()
