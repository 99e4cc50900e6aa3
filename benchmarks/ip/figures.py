# SPDX-License-Identifier: BSD-3-Clause
"""Table 3 and figures 6 to 9 of the U-Net paper (SOSP 1995), with ours.

The paper prints the figures of the table; of its plots the text tells what is in THEN.
"""
from bench import plots, table

TITLES = {"raw": "U-Net messages", "ours": "TCP over U-Net", "ip_udp": "UDP over U-Net",
          "tcp": "kernel TCP", "udp": "kernel UDP"}
# Table 3: round trip in us, bandwidth with packets of 4 KiB in Mbit/s, by column of ours.
LAYERS = {"raw": ("Raw AAL5", 65, 120), "ip_udp": ("UDP", 138, 120), "ours": ("TCP", 157, 115)}
PACKET = 4096
SMALL = 8
PAPER = "von Eicken, Basu, Buch, Vogels: U-Net (SOSP 1995), "
THEN = {
    6: "kernel TCP and UDP took longer over ATM than over Ethernet",
    7: "kernel UDP reached all of ATM from 8 KiB on, with losses; U-Net's without",
    8: "U-Net's TCP had 14 to 15 MB/s with a window of 8 KiB, the kernel's 9 to 10 with 64 KiB",
    9: "138 us by U-Net's UDP, 157 us by its TCP, for small messages",
}
# What, whose and how each figure shows.
FIGURES = {6: ("rtt", ("tcp", "udp"), "round trip, us"),
           7: ("bulk", ("ip_udp", "udp"), "UDP, MB/s"),
           8: ("bulk", ("ours", "tcp", "raw"), "TCP, MB/s"),
           9: ("rtt", ("ours", "ip_udp", "tcp", "udp", "raw"), "round trip, us")}
STYLES = {"raw": ("#7fb3d5", "o-"), "ours": ("#0b4f6c", "D-"), "ip_udp": ("#2a9d8f", "s-"),
          "tcp": ("#777777", "x--"), "udp": ("#aaaaaa", "+--")}


def median(data, kind, size, backend, column):
    return next((row["figures"][column]["median"] for row in data["rows"]
                 if (row["kind"], row["size"], row["backend"]) == (kind, size, backend) and
                 column in row["figures"]), None)


def backends_of(data):
    return list(dict.fromkeys(row["backend"] for row in data["rows"]))


def layers(data):
    backends = backends_of(data)
    today = [f"today, {backend}" for backend in backends]
    yield ["protocol", "round trip 1995, us", *today, "4 KiB 1995, Mbit/s", *today]
    for column, (name, trip, rate) in LAYERS.items():
        trips = [median(data, "rtt", SMALL, backend, column) for backend in backends]
        rates = [median(data, "bulk", PACKET, backend, column) for backend in backends]
        yield [name, str(trip), *map(table.number, trips), str(rate),
               *(table.number(found and 8 * found, "{:.0f}") for found in rates)]


def layers_table(data):
    return table.Table(PAPER + "table 3, section 7's part", layers(data),
                       "Today: messages of 8 bytes, and writes or messages of 4 KiB.")


def draw(axes, data, backend, number):
    kind, columns, label = FIGURES[number]
    rows = [row for row in data["rows"] if (row["kind"], row["backend"]) == (kind, backend)]
    for column in columns:
        points = [(row["size"], row["figures"][column]["median"]) for row in rows
                  if column in row["figures"]]
        if points:
            colour, style = STYLES[column]
            axes.plot(*zip(*points), style, color=colour, label=TITLES[column], markersize=4,
                      linewidth=1.3)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.set_xlabel("bytes of a message or write")
    axes.set_ylabel(label)
    axes.set_title(f"figure {number}; then: {THEN[number]}", fontsize=7)


def pictures(plt, data):
    """The four figures, for each backend."""
    for backend in backends_of(data):
        figure, axes = plots.grid(plt, len(FIGURES), 2, 3.6, 11)
        for number, one in zip(FIGURES, axes):
            draw(one, data, backend, number)
        handles = {text: handle for one in axes
                   for handle, text in zip(*one.get_legend_handles_labels())}
        plots.legend_below(figure, list(handles.values()), ncols=len(handles), fontsize=9)
        yield plots.Picture(f"{PAPER}figures 6 to 9, {backend}", f"ip-{backend}", figure)
