# SPDX-License-Identifier: BSD-3-Clause
"""Table 2 and figures 3 to 8 of the VMMC-2 paper (1997), with ours.

The paper prints the figures of the table; of its plots the text tells some points.
"""
import dataclasses

from bench import plots, table

PAPER = "Dubnicki and others: VMMC-2 (1997), "
MILLIS = 10  # for each operation and turn
FILE_FACTOR = 64  # of streams.sc
WHOLE = 64 << 10  # bytes of the table's streams,
PART = 8 << 10  # and of its ping-pong: plain messages have no window, so that longer ones get lost
SMALL = 8


@dataclasses.dataclass(frozen=True)
class Curve:
    """One line of a figure: whose times of what."""

    metric: str
    title: str
    who: str = "ours"
    style: tuple = ("#0b4f6c", "D-")


@dataclasses.dataclass(frozen=True)
class Figure:
    """What a figure shows, as times in us or, with `rate`, as bandwidth."""

    curves: tuple
    then: str
    points: tuple  # of 1997: bytes and us, or MB/s
    rate: bool = False
    most: int = 1 << 30  # bytes of a message
    factor: int = 1  # of the bytes, on the x axis
    axis: str = "bytes of a message"


COPIED = ("#777777", "x--")
SECOND = ("#2a9d8f", "s-")
THIRD = ("#7fb3d5", "o-")
FOURTH = ("#e76f51", "^-")

FIGURES = {
    3: Figure((Curve("half", "one way"), Curve("send", "send, host", style=SECOND),
               Curve("receive", "receive, host", style=THIRD), Curve("gap", "gap", style=FOURTH)),
              "13.4 us one way up to 32 bytes, less than 4 us of the host's",
              ((8, 13.4), (32, 13.4)), most=8192),
    4: Figure((Curve("gap", "one direction"), Curve("both", "both at once", style=SECOND),
               Curve("half", "ping-pong", style=THIRD)),
              "at most 90 to 93 MB/s; of 4 KiB 44 in ping-pong, 80 otherwise",
              ((4 << 10, 44), (4 << 10, 80)), rate=True),
    5: Figure((Curve("talk", "redirected"), Curve("talk", "copied", "raw", COPIED)),
              "128 KiB: 78.8 MB/s redirected, 34 copied", ((128 << 10, 78.8), (128 << 10, 34)),
              rate=True),
    6: Figure((Curve("talk", "redirected"), Curve("talk", "copied", "raw", COPIED)),
              "20 us for short messages", ((8, 20),), most=4096),
    7: Figure((Curve("ttcp", "redirected"), Curve("ttcp", "copied", "raw", COPIED)),
              "at most 84 MB/s redirected, 38 copied", ((128 << 10, 84), (128 << 10, 38)),
              rate=True),
    8: Figure((Curve("get", "redirected"), Curve("get", "copied", "raw", COPIED)),
              "at most 19 MB/s; writing files 25", (), rate=True, factor=FILE_FACTOR,
              axis="bytes of a file"),
}
# Who has a time of it.
METRICS = {**dict.fromkeys(("half", "send", "receive", "gap", "both"), ["ours"]),
           **dict.fromkeys(("talk", "ttcp", "get"), ["ours", "raw"])}


# ---- what is run ----------------------------------------------------------------------------------


def command(options, hosts, backend, program, sizes):
    arguments = [f"{options.build}/benchmarks/vmmc_{program}", str(MILLIS), *map(str, sizes)]
    if backend == "shm":
        return [f"{options.build}/bin/unetrun", "-n", "2", *arguments]
    return hosts.split_c(options.build, backend, *arguments)


def plain(options, hosts, backend, kind, size):
    """U-Net's messages of one packet each, which nothing makes reliable."""
    return [f"{options.build}/bin/ip_bench", "unet", backend, kind, str(size), str(MILLIS),
            hosts.interface, *hosts.pids]


def plan(options, hosts, samples):
    effort = options.effort
    for backend in options.backends:
        suffix = "_" + backend
        for _ in range(effort.turns):
            yield samples.step("ours", f"the paper's parameters over {backend}",
                               command(options, hosts, backend, "logp", effort.logp), suffix)
            yield samples.step("ours", f"the paper's streams over {backend}",
                               command(options, hosts, backend, "streams", effort.streams), suffix)
            if backend != "shm" and hosts.are_two() and (options.build / "bin/ip_bench").exists():
                for kind, size in (("rtt", SMALL), ("rtt", PART), ("bulk", WHOLE)):
                    yield samples.step("plain", f"plain messages over {backend}",
                                       plain(options, hosts, backend, kind, size), suffix)


# ---- what it comes to -------------------------------------------------------------------------------


def shapes(samples, effort, backends):
    """Medians in nanoseconds by backend, what was measured, size and whose they are."""
    found = []
    for backend in backends:
        for metric, columns in METRICS.items():
            sizes = effort.streams if "raw" in columns else effort.logp
            for size in sizes:
                medians = {who: samples.median(who, f"{metric}_{size}_{backend}")
                           for who in columns}
                if all(medians.values()):
                    found.append({"backend": backend, "metric": metric, "size": size, **medians})
    return found


def nanoseconds(data, backend, metric, size, who="ours"):
    return next((one[who] for one in data["shapes"] if
                 (one["backend"], one["metric"], one["size"]) == (backend, metric, size)), None)


def plain_medians(samples, backends):
    return {backend: {key: samples.median("plain", f"{key}_{backend}")
                      for key in (f"rtt_{SMALL}", f"rtt_{PART}", f"bulk_{WHOLE}")}
            for backend in backends if backend != "shm"}


def rate(ns, size):
    """MB/s."""
    return ns and size / ns * 1e3


def table_2(data):
    networks = list(data["plain"])
    titles = [f"today, {network}{reliable}" for network in networks
              for reliable in ("", ", not reliable")]
    yield ["", "unit", "1997", "1997, not reliable", *titles]
    for title, unit, then, metric, size, other, trips in (
            ("one way", "us", ("13.4", "11.1"), "half", SMALL, f"rtt_{SMALL}", 2),
            ("one direction", "MB/s", ("92.63", "97.61"), "gap", WHOLE, f"bulk_{WHOLE}", 1),
            ("ping-pong", "MB/s", ("90.05", "99.39"), "half", PART, f"rtt_{PART}", 2),
            ("both at once", "MB/s", ("90.77", "91.87"), "both", WHOLE, None, 1)):
        line = [title, unit, *then]
        for network in networks:
            without = data["plain"][network].get(other)
            for ns in (nanoseconds(data, network, metric, size), without and without / trips):
                shown = ns and (ns / 1e3 if unit == "us" else rate(ns, size))
                line.append(table.number(shown))
        yield line


NOTE = (f"Today: {SMALL} bytes; streams of {table.size(WHOLE)}, of which both at once is what either "
        f"sends; ping-pong of {table.size(PART)}.  Not "
        "reliable are U-Net's own messages of a packet each, without acknowledgement or "
        "authentication; on udp several go to the kernel at once.")


def tables(data):
    if data["plain"]:
        yield table.Table(PAPER + "table 2", table_2(data), NOTE)


# ---- pictures ---------------------------------------------------------------------------------------


def draw(axes, data, backend, number):
    figure = FIGURES[number]
    for curve in figure.curves:
        points = [(one["size"] * figure.factor,
                   rate(one[curve.who], one["size"]) if figure.rate else one[curve.who] / 1e3)
                  for one in data["shapes"]
                  if (one["backend"], one["metric"]) == (backend, curve.metric) and
                  one["size"] <= figure.most]
        if points:
            colour, style = curve.style
            axes.plot(*zip(*points), style, color=colour, label=curve.title, markersize=4,
                      linewidth=1.3)
    if figure.points:
        axes.plot(*zip(*figure.points), "*", color="#c1121f", label="1997", markersize=8)
    axes.legend(fontsize=7)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.set_xlabel(figure.axis)
    axes.set_ylabel("MB/s" if figure.rate else "us")
    axes.set_title(f"figure {number}; then: {figure.then}", fontsize=7)


def pictures(plt, data):
    """The six figures, for each backend."""
    for backend in dict.fromkeys(one["backend"] for one in data["shapes"]):
        figure, axes = plots.grid(plt, len(FIGURES), 2, 3.6, 11)
        for number, one in zip(FIGURES, axes):
            draw(one, data, backend, number)
        yield plots.Picture(f"{PAPER}figures 3 to 8, {backend}", f"vmmc-{backend}", figure)
