# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the suite's results."""
from tables import NAMES, all_ranks, rows_of, who_took_part
from bench import plots

COLOURS = {"ours": "#0b6e99", "udp": "#0b6e99", "eth": "#2a9d8f", "mpich": "#d9822b",
           "openmpi": "#7a5195"}
PALE = {"ours": "#9fd0e4", "udp": "#9fd0e4", "eth": "#a8dcd5", "mpich": "#f5cfa5",
        "openmpi": "#cbb7da"}  # of the communication
TOP = 4.0  # where bars are cut off


# ---- bars ---------------------------------------------------------------------------------------


def bars(plt, rows, unit, title):
    """Everybody's time in units of one of them, divided into computation and communication."""
    who = who_took_part(rows)
    figure, axes = plt.subplots(figsize=(11, 4.8), layout="constrained")
    width = 0.8 / len(who)
    for number, name in enumerate(who):
        for place, row in enumerate(rows):
            at = place - 0.4 + (number + 0.5) * width
            if name in row["figures"]:
                draw_bar(axes, at, width, name, row["figures"][name], row["figures"][unit]["time"])
            elif name in row["too_slow"]:
                draw_timeout_bar(axes, at, width, name, row["too_slow"][name])
    axes.set_xticks(range(len(rows)), [row["case"].replace(", ", ",\n") for row in rows],
                    rotation=35, ha="right", fontsize=9)
    axes.set_ylim(0, TOP)
    axes.set_ylabel(f"time, {NAMES[unit]} = 1")
    axes.axhline(1, color="#888888", linewidth=0.8, zorder=0)
    axes.set_title(title)
    patch = plt.matplotlib.patches.Patch
    plots.legend_below(figure, [patch(color=colours[name], label=f"{NAMES[name]}: {what}")
                                for name in who for colours, what in
                                ((COLOURS, "computation"), (PALE, "communication"))],
                       ncols=len(who), fontsize=8)
    return figure


def draw_bar(axes, at, width, name, figure, unit):
    spent = figure["computation"] + figure["communication"]
    whole = figure["time"] / unit if unit else 0
    part = whole * (figure["computation"] / spent if spent else 0)
    axes.bar(at, part, width * 0.92, color=COLOURS[name])
    axes.bar(at, whole - part, width * 0.92, bottom=part, color=PALE[name])
    if whole > TOP:
        axes.text(at, TOP * 0.985, f"{whole:.3g}", ha="center", va="top", fontsize=7, rotation=90)


def draw_timeout_bar(axes, at, width, name, seconds):
    axes.bar(at, TOP, width * 0.92, color="none", edgecolor=COLOURS[name], hatch="//", linewidth=0)
    axes.text(at, TOP * 0.985, f"> {seconds} s", ha="center", va="top", fontsize=7, rotation=90,
              bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})


def hosts_rows(data):
    """A row of each case with all networks in it."""
    rows = {}
    for row in data["hosts"]:
        merged = rows.setdefault(row["case"], {"case": row["case"], "figures": {}, "too_slow": {}})
        merged["figures"].update(row["figures"])
        merged["too_slow"].update(row["too_slow"])
    return [row for row in rows.values() if "udp" in row["figures"]]


# ---- speed-ups ----------------------------------------------------------------------------------


def speed_ups(plt, data):
    """Rate over that of our program on the fewest ranks."""
    cases = list(dict.fromkeys(row["case"] for row in data["rows"]))
    figure, grid = plots.grid(plt, len(cases), columns=4, height=2.6, width=11)
    for axes, case in zip(grid, cases):
        draw_speed_up(axes, [row for row in data["rows"] if row["case"] == case])
        axes.set_title(case, fontsize=9)
    figure.supxlabel("ranks")
    figure.supylabel("rate, Split-C on the fewest ranks = 1")
    who = who_took_part(data["rows"])
    plots.legend_below(figure, [plt.matplotlib.lines.Line2D([], [], marker="o",
                                                            color=COLOURS[name],
                                                            label=NAMES[name]) for name in who],
                       ncols=len(who))
    return figure


def draw_speed_up(axes, rows):
    base = next((row["figures"]["ours"]["rate"] for row in rows if "ours" in row["figures"]), None)
    for name in NAMES:
        points = [(row["ranks"], row["figures"][name]["rate"] / base) for row in rows
                  if base and name in row["figures"]]
        if points:
            axes.plot(*zip(*points), "o-", color=COLOURS[name], label=NAMES[name], markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks([row["ranks"] for row in rows], [str(row["ranks"]) for row in rows])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=8)


# ---- traces -------------------------------------------------------------------------------------

ACTIVITIES = {"computes": "#0b6e99", "waits": "#9fd0e4", "transfers": "#d9822b"}


def bytes_text(count):
    for unit, size in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return str(count)


def draw_matrix(axes, trace):
    matrix, ranks = trace["matrix"], trace["ranks"]
    most = max(map(max, matrix)) or 1
    axes.imshow(matrix, cmap="Blues", vmin=0, vmax=most)
    for source, row in enumerate(matrix):
        for target, count in enumerate(row):
            axes.text(target, source, bytes_text(count), ha="center", va="center", fontsize=7,
                      color="white" if count > most / 2 else "#222222")
    axes.set_xticks(range(ranks))
    axes.set_yticks(range(ranks))
    axes.tick_params(labelsize=8, length=0)
    axes.set_title(trace["case"], fontsize=9)


def matrices(plt, all_traces):
    figure, grid = plots.grid(plt, len(all_traces), columns=3, height=3, width=9)
    for axes, trace in zip(grid, all_traces):
        draw_matrix(axes, trace)
    figure.suptitle("bytes from rank to rank", fontsize=10)
    figure.supxlabel("to rank")
    figure.supylabel("from rank")
    return figure


def timeline(plt, trace):
    spans, ranks = trace["spans"], trace["ranks"]
    end = max(at + dur for _, _, at, dur in spans)
    figure, axes = plt.subplots(figsize=(11, 0.6 + 0.5 * ranks), layout="constrained")
    for rank in range(ranks):
        axes.broken_barh([(0, end)], (rank - 0.35, 0.7), color=ACTIVITIES["computes"])
    for what in ("waits", "transfers"):
        for rank in range(ranks):
            axes.broken_barh([(at, dur) for who, kind, at, dur in spans
                              if who == rank and kind == what],
                             (rank - 0.35, 0.7), color=ACTIVITIES[what])
    axes.set_xlim(0, end)
    axes.set_ylim(ranks - 0.5, -0.5)
    axes.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    axes.set_xlabel("microseconds")
    axes.set_title(f"{trace['case']} on {ranks} ranks", fontsize=10)
    patch = plt.matplotlib.patches.Patch
    axes.legend(handles=[patch(color=colour, label=what) for what, colour in ACTIVITIES.items()],
                ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.1), frameon=False)
    return figure


# ---- all of them --------------------------------------------------------------------------------


def pictures(plt, data):
    for ranks in all_ranks(data):
        rows = rows_of(data, ranks)
        title = f"Time on {ranks} rank{'s' if ranks > 1 else ''} (less is better)"
        if rows:
            yield plots.Picture(title, f"time-{ranks}", bars(plt, rows, "ours", title))
    if hosts_rows(data):
        title = "Time between two hosts, a rank on each (less is better)"
        yield plots.Picture(title, "time-hosts", bars(plt, hosts_rows(data), "udp", title))
    if len(all_ranks(data)) > 1:
        yield plots.Picture("Rate against the number of ranks", "speed-up", speed_ups(plt, data))
    all_traces = [trace for trace in data["traces"] if trace["spans"]]
    if all_traces:
        yield plots.Picture("Bytes of bulk transfers from rank to rank, in short runs", "matrix",
                            matrices(plt, all_traces))
        yield plots.Picture("What each rank does when, in a short run", "timeline",
                            timeline(plt, all_traces[0]))
