# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1 to 3 and figures 8 and 9 of the paper on Fast Sockets (1997), with ours beside them."""
from bench import estimate, fast_sockets, table

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
CURVE_NOTE = ("Least squares of the rate r_inf * bytes / (n_1/2 + bytes); a dash: it still rises at the end.  Today: on "
              "one machine, with the kernel's own sizes of buffers.")
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
