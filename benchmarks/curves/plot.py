# SPDX-License-Identifier: BSD-3-Clause
"""Plots of what curves.py has measured."""
from bench import plots

STYLES = {"unet": ("#7fb3d5", "o-"), "gam": ("#2e86c1", "s-"), "splitc": ("#0b4f6c", "D-"),
          "splitc_get": ("#0b4f6c", "D:"), "mpich": ("#d9822b", "^-"), "openmpi": ("#7a5195", "v-"),
          "ucx": ("#c0392b", "<-"), "tcp": ("#777777", "x--"),
          "udp": ("#aaaaaa", "+--")}
PLACES = {"shm": "between two processes of this machine (shm)",
          "udp": "between two hosts, over udp; peers over TCP",
          "eth": "between two hosts, over raw Ethernet; peers over TCP"}
TICKS = {8: "8", 64: "64", 512: "512", 4096: "4 Ki", 32768: "32 Ki", 1 << 18: "256 Ki",
         1 << 20: "1 Mi"}


def points_of(data, network, what, names):
    """who: (size, median, low, high) in order."""
    points = {}
    for row in data["rows"]:
        if row["network"] == network and row["what"] == what and row["size"] > 0:
            for who, figure in row["figures"].items():
                points.setdefault(who, []).append(
                    (row["size"], figure["median"], figure["low"], figure["high"]))
    return {who: points[who] for who in names if who in points}


def draw_curves(axes, points, names, label):
    for who, found in points.items():
        sizes, middles, lows, highs = zip(*found)
        colour, style = STYLES[who]
        axes.plot(sizes, middles, style, color=colour, label=names[who], markersize=4,
                  linewidth=1.3)
        axes.fill_between(sizes, lows, highs, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    middles = [middle for found in points.values() for _, middle, _, _ in found]
    axes.set_ylim(min(middles) / 1.6, max(middles) * 1.6)  # whatever the intervals are
    last = max(size for found in points.values() for size, *_ in found)
    ticks = [size for size in TICKS if size <= last]
    axes.set_xticks(ticks, [TICKS[size] for size in ticks])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.set_xlabel("bytes of a message")
    axes.set_ylabel(label)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def draw_network(plt, halves, rates, names):
    """Round trip and bandwidth, side by side."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    trips = {who: [(size, *(2 * us for us in rest)) for size, *rest in found]
             for who, found in halves.items()}
    draw_curves(left, trips, names, "round trip, us")
    left.set_title("Round trip (less is better)", fontsize=10)
    draw_curves(right, rates, names, "MB/s")
    right.set_title("Bandwidth (more is better)", fontsize=10)
    handles = {text: handle for axes in (left, right)
               for handle, text in zip(*axes.get_legend_handles_labels())}
    plots.legend_below(figure, [handles[name] for name in names.values() if name in handles],
                       ncols=len(handles), fontsize=9)
    return figure


def pictures(plt, data, names):
    """One of each network; `names` are those of the legend, in its order."""
    for network, place in PLACES.items():
        halves, rates = (points_of(data, network, what, names) for what in ("latency", "bandwidth"))
        if halves and rates:
            yield plots.Picture(f"Messages {place}", f"curves-{network}",
                                draw_network(plt, halves, rates, names))
