# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what curves.py measured, and its tables for the report."""

NAMES = {"unet": "U-Net", "gam": "GAM", "splitc": "Split-C store", "splitc_get": "Split-C get",
         "mpich": "MPICH", "openmpi": "Open MPI", "ucx": "UCX", "tcp": "TCP",
         "udp": "UDP"}
STYLES = {"unet": ("#7fb3d5", "o-"), "gam": ("#2e86c1", "s-"), "splitc": ("#0b4f6c", "D-"),
          "splitc_get": ("#0b4f6c", "D:"), "mpich": ("#d9822b", "^-"), "openmpi": ("#7a5195", "v-"),
          "ucx": ("#c0392b", "<-"), "tcp": ("#777777", "x--"),
          "udp": ("#aaaaaa", "+--")}
PLACES = {"shm": "between two processes of this machine (shm)",
          "udp": "between two hosts, over udp; peers over TCP",
          "eth": "between two hosts, over raw Ethernet; peers over TCP"}
TICKS = {8: "8", 64: "64", 512: "512", 4096: "4 Ki", 32768: "32 Ki", 1 << 18: "256 Ki",
         1 << 20: "1 Mi"}


def points_of(told, network, what):
    """who: (size, median, low, high) in order."""
    points = {}
    for row in told["rows"]:
        if row["network"] == network and row["what"] == what and row["size"] > 0:
            for who, figure in row["figures"].items():
                points.setdefault(who, []).append(
                    (row["size"], figure["median"], figure["low"], figure["high"]))
    return {who: points[who] for who in NAMES if who in points}


def draw_curves(axes, points, label):
    for who, found in points.items():
        sizes, middles, lows, highs = zip(*found)
        colour, style = STYLES[who]
        axes.plot(sizes, middles, style, color=colour, label=NAMES[who], markersize=4,
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


def draw_network(plt, told, network):
    """Round trip and bandwidth, side by side."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    trips = {who: [(size, *(2 * ns for ns in rest)) for size, *rest in found]
             for who, found in points_of(told, network, "latency").items()}
    draw_curves(left, trips, "round trip, us")
    left.set_title("Round trip (less is better)", fontsize=10)
    draw_curves(right, points_of(told, network, "bandwidth"), "MB/s")
    right.set_title("Bandwidth (more is better)", fontsize=10)
    handles = {text: handle for axes in (left, right)
               for handle, text in zip(*axes.get_legend_handles_labels())}
    shown = [name for name in NAMES.values() if name in handles]
    figure.legend([handles[name] for name in shown], shown, ncols=len(handles), loc="upper center",
                  bbox_to_anchor=(0.5, 0), frameon=False, fontsize=9)
    return figure


def networks_of(told):
    return [network for network in PLACES if points_of(told, network, "latency")
            and points_of(told, network, "bandwidth")]


def draw_all(plt, told):
    """(file name, title, figure) of each network."""
    return [(f"curves-{network}", f"Messages {PLACES[network]}", draw_network(plt, told, network))
            for network in networks_of(told)]


# ---- tables ---------------------------------------------------------------------------------


def number(value, scale=1.0):
    return "-" if value is None else f"{value / scale:.3g}"


def fits_table(told):
    yield ["layer", "network", "least round trip, us", "t0, us", "t1, ns a byte", "r_inf, GB/s",
           "n_1/2, bytes"]
    for fit in told["fits"]:
        half = fit["half_power_bytes"]
        yield [NAMES[fit["who"]], fit["network"], number(fit["least_ns"], 1e3),
               number(fit["start_ns"], 1e3), number(fit["per_byte_ns"]),
               number(fit["most_gb_s"]), "-" if half is None else f"{half:.0f}"]


def loggp_table(told):
    yield ["network", "L, ns", "o_s, ns", "o_r, ns", "g, ns", "G, ns a byte", "round trip, ns"]
    for one in told["loggp"]:
        yield [one["network"], *(f"{one[name]:.4g}" for name in
                                 ("L", "o_s", "o_r", "g", "G", "round_trip"))]


def words_table(told):
    networks = [name for name in PLACES
                if any(row["what"] == "access" and row["network"] == name for row in told["rows"])]
    yield ["access of one word", *(f"{name}, us" for name in networks)]
    found = {(row["network"], row["title"].rpartition(", ")[0]): row["figures"]["splitc"]
             for row in told["rows"] if row["what"] == "access"}
    for title in dict.fromkeys(title for _, title in found):
        yield [title, *(told_text(found.get((name, title))) for name in networks)]


def told_text(figure):
    if figure is None:
        return "-"
    return f"{figure['median']:.3g} ({figure['low']:.3g} to {figure['high']:.3g})"


FITS_NOTE = ("Least squares: round trips of up to 64 KiB as t0 + t1 * bytes, bandwidth as "
             "r_inf * bytes / (n_1/2 + bytes).")
LOGGP_NOTE = ("Active messages of four words: o_s and o_r are what a message takes the sender and "
              "the receiver where 16 are sent together, g the time between two where there are "
              "always more, L what is left of half a round trip without o_s and o_r; G is from "
              "streams of stores.")
WORDS_NOTE = "Medians with their 95 % intervals."


def tables(told):
    """(title, table, note) of each."""
    yield "LogGP", loggp_table(told), LOGGP_NOTE
    yield "Accesses of one word by Split-C", words_table(told), WORDS_NOTE
    yield "Least squares", fits_table(told), FITS_NOTE
