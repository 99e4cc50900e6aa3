# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1 to 3 and figures 4 and 6 to 9 of the paper on Fast Sockets (1997), with ours beside them.

Of figures 4, 6 and 7 the paper prints the least squares, in its tables; figures 8 and 9 are tables here."""
from bench import estimate, fast_sockets, plots, table

# By what stream.c calls it.
STREAMS = {"burst": "500 sends and an answer", "ttcp": "stream as ttcp's", "netperf": "stream as netperf's"}
TODAY = {"ours": "today: unetsock", "raw": "today: TCP", "unix": "today: AF_UNIX"}
SMALL = 1024  # bytes, of table 1's small packets


def number(value):
    """With four digits, or all of them of a large number."""
    return table.number(value, "{:,.0f}" if value and value >= 1e4 else "{:.4g}")


def points(data, kind, who):
    """Sizes and medians, in the unit of the rows."""
    return [(row["size"], row["figures"][who]["median"]) for row in data["rows"]
            if row.get("kind") == kind and who in row["figures"]]


def megabytes(data, kind, who):
    return [(size, 1e3 * rate) for size, rate in points(data, kind, who)]


def round_trips(data):
    yield ["layer", "per byte, us", "at 0 bytes, us", "up to 1 KiB: per byte, us", "at 0 bytes, us", "1 byte, us"]
    for name, *printed in fast_sockets.ROUND_TRIPS:
        yield [name, *map(str, printed)]
    for who, name in TODAY.items():
        found = points(data, "rtt", who)
        numbers = []
        for part in found, [(size, us) for size, us in found if size <= SMALL]:
            start, slope = estimate.line(part) or (None, None)
            numbers += [slope, start]
        yield [name, *map(number, (*numbers, dict(found).get(1)))]


def fit(data, kind, who):
    return map(number, estimate.half_power(megabytes(data, kind, who)) or (None, None))


def half_powers(data):
    yield ["layer", "r_inf, MB/s", "n_1/2, bytes"]
    for name, *printed in fast_sockets.HALF_POWER:
        yield [name, *map(str, printed)]
    for who in "ours", "raw":
        yield [TODAY[who], *fit(data, "burst", who)]


def programs(data):
    yield ["program", "layer", "r_inf, MB/s", "n_1/2, bytes"]
    for program, printed in fast_sockets.PROGRAMS.items():
        for name, *values in printed:
            yield [program, name, *map(str, values)]
        for who in "ours", "raw":
            yield [f"as {program}", TODAY[who], *fit(data, program, who)]


def beside_tcp(title, size, pair, then):
    """A line of two rates, how many times TCP's is ours, and what the paper says."""
    ours, raw = pair
    return [title, table.size(size), number(ours), number(raw),
            table.ratio(ours / raw if ours and raw else None), then]


def rates(data, kind, rate):
    """For each size that was measured, the rates over unetsock and TCP by a function of size and time."""
    times = [dict(points(data, kind, who)) for who in ("ours", "raw")]
    for size in sorted({*times[0], *times[1]}):
        yield size, [rate(size, one[size]) if one.get(size) else None for one in times]


def transactions(data):
    yield ["", "size", "unetsock, 1/s", "TCP, 1/s", "times TCP", "1997, Fast Sockets"]
    for kind, title in ("rtt", "on one connection"), ("connect", "a connection for each"):
        for size, pair in rates(data, kind, lambda _, us: 1e6 / us):
            yield beside_tcp(title, size, pair, fast_sockets.TRANSACTIONS[kind])


def ftp(data):
    yield ["", "file", "unetsock, MB/s", "TCP, MB/s", "times TCP", "1997, Fast Sockets"]
    for size, pair in rates(data, "ftp", lambda size, us: size / us):
        yield beside_tcp("FTP", size, pair, next(said for most, said in fast_sockets.FTP if size <= most))


LINES_NOTE = "Least squares of round trips, all of which and those of at most 1 KiB; today: on one machine."
CURVE_NOTE = ("Least squares of the rate r_inf * bytes / (n_1/2 + bytes); a dash: it still rises at the end.  "
              "Today: on one machine, with the kernel's own sizes of buffers.")
PROGRAMS_NOTE = CURVE_NOTE + "  Programs that send as these do."


def tables(data):
    """Those of which something was measured."""
    for title, lines, note in (("table 1: round trips", round_trips(data), LINES_NOTE),
                               ("table 2: sends of a size, and an answer", half_powers(data), CURVE_NOTE),
                               ("table 3: ttcp and netperf", programs(data), PROGRAMS_NOTE),
                               ("figure 8: netperf's requests and replies", transactions(data), ""),
                               ("figure 9: FTP", ftp(data), "Today: Python's ftplib and pyftpdlib.")):
        lines = list(lines)
        if len(lines) > 1:
            yield table.Table(fast_sockets.PAPER + title, lines, note)


# ---- pictures ---------------------------------------------------------------------------------------

STYLES = {"ours": ("#0b4f6c", "D-"), "raw": ("#777777", "x--"), "unix": ("#2a9d8f", "s-")}
THEN = {"Fast Sockets, Myrinet": "#c1121f", "TCP/IP, Myrinet": "#e76f51"}
# By the paper's figure: what it shows, and the least squares of 1997.
FIGURES = {"4: round trips": ("rtt", fast_sockets.ROUND_TRIPS),
           "6: bandwidth": ("burst", fast_sockets.HALF_POWER),
           "7: ttcp": ("ttcp", fast_sockets.PROGRAMS["ttcp"]),
           "7: netperf": ("netperf", fast_sockets.PROGRAMS["netperf"])}


def then(kind, printed, size):
    """What the least squares of 1997 say of a size."""
    if kind == "rtt":
        slope, start, *_ = printed
        return start + slope * size
    most, half = printed
    return most * size / (half + size)


def draw(axes, data, title):
    kind, printed = FIGURES[title]
    of_size = points if kind == "rtt" else megabytes
    found = {who: of_size(data, kind, who) for who in TODAY}
    sizes = sorted({size for one in found.values() for size, _ in one})
    for who, one in found.items():
        if one:
            colour, style = STYLES[who]
            axes.plot(*zip(*one), style, color=colour, label=TODAY[who], markersize=4, linewidth=1.3)
    for name, *values in printed:
        if name in THEN:
            axes.plot(sizes, [then(kind, values, size) for size in sizes], ":", color=THEN[name],
                      label=f"1997, least squares: {name}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.set_xlabel("bytes of a message or write")
    axes.set_ylabel("us" if kind == "rtt" else "MB/s")
    axes.set_title(f"figure {title}", fontsize=8)


def pictures(plt, data):
    figure, axes = plots.grid(plt, len(FIGURES), 2, 3.6, 11)
    for title, one in zip(FIGURES, axes):
        draw(one, data, title)
    handles = {text: handle for one in axes for handle, text in zip(*one.get_legend_handles_labels())}
    plots.legend_below(figure, list(handles.values()), ncols=3, fontsize=9)
    yield plots.Picture(f"{fast_sockets.PAPER}figures 4, 6 and 7", "sockets", figure)
