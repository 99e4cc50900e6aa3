# SPDX-License-Identifier: BSD-3-Clause
"""report.md, report.html and the plots of a run of the suite."""
import html
import io

import traces

NAMES = {"ours": "Split-C", "mpich": "MPICH", "openmpi": "Open MPI"}
COLOURS = {"ours": "#0b6e99", "mpich": "#d9822b", "openmpi": "#7a5195"}
PALE = {"ours": "#9fd0e4", "mpich": "#f5cfa5", "openmpi": "#cbb7da"}  # of the communication


def who_took_part(told):
    return [who for who in NAMES
            if any(who in row["figures"] for row in told["rows"])]


def rows_of(told, ranks):
    return [row for row in told["rows"] if row["ranks"] == ranks and "ours" in row["figures"]]


def all_ranks(told):
    return sorted({row["ranks"] for row in told["rows"]})


def time_text(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


# ---- text -----------------------------------------------------------------------------------


def heading(told):
    machine = told["machine"]
    peers = ", ".join(f"{NAMES[name]} {version}" for name, version in told["peers"].items())
    return [f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_mib']} MiB, "
            f"Linux {machine['kernel']}",
            f"{told['when']}; {'quick run, ' if told['quick'] else ''}median of {told['turns']} "
            f"turns; load {told['load_before']:.1f} before, {told['load_after']:.1f} after",
            f"beside {peers}" if peers else "without peers"]


def bound_text(row):
    """Where little else than computing is measured."""
    return f"{row['bound']:.2f}" if row["bound"] and row["bound"] < 10 else "-"


def table(told):
    """Header and rows, all text."""
    who = who_took_part(told)
    yield ["case", "ranks", *(NAMES[name] for name in who), "of it communication", "ratio", "at most",
           "aim", ""]
    for row in told["rows"]:
        figures = row["figures"]
        mine = figures.get("ours")
        spent = mine["computation"] + mine["communication"] if mine else 0
        yield [row["case"], str(row["ranks"]),
               *(time_text(figures[name]["time"]) if name in figures else "-" for name in who),
               f"{100 * mine['communication'] / spent:.0f} %" if spent else "-",
               f"{row['ratio']:.2f}" if row["ratio"] else "-", bound_text(row),
               f">= {row['aim']:g}" if row["aim"] else "", row["verdict"]]


def weak_table(told):
    """Header and rows: throughput where each rank has as much to do, however many there are."""
    ranks = all_ranks(told)
    yield ["case", *(f"{count} ranks" for count in ranks), "kept", "aim", ""]
    for row in told["weak"]:
        yield [row["case"], *(rate_text(row["rates"].get(count), row["unit"]) for count in ranks),
               f"{row['kept']:.2f}" if row["kept"] else "-", f">= {row['aim']:g}", row["verdict"]]


def hosts_table(told):
    """Header and rows: what is between two hosts."""
    peers = [who for who in NAMES if any(who in row["figures"] for row in told["hosts"])]
    yield ["case", "Split-C over", "Split-C", *(NAMES[who] for who in peers), "ratio", "aim", ""]
    for row in told["hosts"]:
        yield [row["case"], row["network"],
               *(time_text(row["figures"][who]["time"]) if who in row["figures"] else "-"
                 for who in (row["network"], *peers)),
               f"{row['ratio']:.2f}" if row["ratio"] else "-", f">= {row['aim']:g}",
               row["verdict"]]


def more_tables(told):
    """(title, table, note) of those that this run has."""
    if told["weak"]:
        yield "Throughput, each rank having as much to do", weak_table(told), WEAK_NOTE
    if told["hosts"]:
        yield "Between two hosts, a rank on each", hosts_table(told), HOSTS_NOTE


def rate_text(rate, unit):
    return f"{rate / 1e6:.1f} M {unit}/s" if rate else "-"


def markdown_table(lines):
    lines = list(lines)
    rule = ["---"] + ["---:"] * (len(lines[0]) - 2) + ["---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule] + lines[1:])


NOTE = ("The times are those of the slowest processor.  The ratio is the best peer's time to ours; "
        "it could be at most what is said beside it if our communication took no time.")

HOSTS_NOTE = "The hosts are namespaces of one machine, joined by a bridge; the peers use TCP."
WEAK_NOTE = "What is kept is the throughput with most ranks against that of one rank per core."


def markdown(told, pictures):
    parts = ["# The Split-C suite beside its MPI twins", "\n".join(heading(told)),
             markdown_table(table(told)), NOTE]
    for title, lines, note in more_tables(told):
        parts += [f"## {title}", markdown_table(lines), note]
    parts += [f"![{title}]({name}.png)" for name, title, _ in pictures]
    if told["failures"]:
        parts.append("## Failures\n" + "\n".join(f"- {text}" for text in told["failures"]))
    return "\n\n".join(parts) + "\n"


# ---- pictures -------------------------------------------------------------------------------


def bars(plt, told, ranks):
    """Time of everybody, ours being 1, divided into computation and communication."""
    rows, who = rows_of(told, ranks), who_took_part(told)
    figure, axes = plt.subplots(figsize=(11, 4.8), layout="constrained")
    width, top = 0.8 / len(who), 4.0
    for number, name in enumerate(who):
        for place, row in enumerate(rows):
            if name in row["figures"]:
                draw_bar(axes, place - 0.4 + (number + 0.5) * width, width, name,
                         row["figures"][name], row["figures"]["ours"]["time"], top)
    axes.set_xticks(range(len(rows)), [row["case"].replace(", ", ",\n") for row in rows],
                    rotation=35, ha="right", fontsize=9)
    axes.set_ylim(0, top)
    axes.set_ylabel("time, Split-C = 1")
    axes.axhline(1, color="#888888", linewidth=0.8, zorder=0)
    axes.set_title(f"Time on {ranks} rank{'s' if ranks > 1 else ''} (less is better)")
    patch = plt.matplotlib.patches.Patch
    axes.legend(handles=[patch(color=colours[name], label=f"{NAMES[name]}: {what}")
                         for name in who for colours, what in
                         ((COLOURS, "computation"), (PALE, "communication"))],
                ncols=len(who), fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.42),
                frameon=False)
    return figure


def draw_bar(axes, at, width, name, figure, unit, top):
    spent = figure["computation"] + figure["communication"]
    whole = figure["time"] / unit if unit else 0
    part = whole * (figure["computation"] / spent if spent else 0)
    axes.bar(at, part, width * 0.92, color=COLOURS[name])
    axes.bar(at, whole - part, width * 0.92, bottom=part, color=PALE[name])
    if whole > top:
        axes.text(at, top * 0.985, f"{whole:.3g}", ha="center", va="top", fontsize=7, rotation=90)


def speed_ups(plt, told):
    """Rate over that of our program on one rank."""
    cases = list(dict.fromkeys(row["case"] for row in told["rows"]))
    columns, lines = 4, (len(cases) + 3) // 4
    figure, grid = plt.subplots(lines, columns, figsize=(11, 2.6 * lines), layout="constrained",
                                squeeze=False)
    for axes, case in zip(grid.flat, cases):
        draw_speed_up(axes, [row for row in told["rows"] if row["case"] == case])
        axes.set_title(case, fontsize=9)
    for axes in grid.flat[len(cases):]:
        axes.set_visible(False)
    figure.supxlabel("ranks")
    figure.supylabel("rate, Split-C on the fewest ranks = 1")
    lines = [plt.matplotlib.lines.Line2D([], [], marker="o", color=COLOURS[name],
                                         label=NAMES[name]) for name in who_took_part(told)]
    figure.legend(handles=lines, ncols=len(lines), loc="lower center", bbox_to_anchor=(0.5, 1),
                  frameon=False)
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


def draw_all(told):
    """(file name, title, figure) of each, none where there is no matplotlib."""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        from matplotlib import pyplot as plt  # pylint: disable=import-outside-toplevel
    except ImportError:
        return []
    pictures = [(f"time-{ranks}", f"Time on {ranks} ranks", bars(plt, told, ranks))
                for ranks in all_ranks(told) if rows_of(told, ranks)]
    if len(all_ranks(told)) > 1:
        pictures.append(("speed-up", "Rate against the number of ranks", speed_ups(plt, told)))
    return pictures + traces.draw_all(plt, told["traces"])


# ---- the page -----------------------------------------------------------------------------------

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em;
       color: #222; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
.pass { color: #18794e; } .miss { color: #b42318; font-weight: bold; }
svg { max-width: 100%; height: auto; } .about { color: #555; }
"""


def svg_of(figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight")
    text = out.getvalue()
    return text[text.index("<svg"):]


def html_table(lines):
    first, *rest = lines
    yield "<table><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in first) + "</tr>"
    for line in rest:
        cells = "".join(f'<td class="{line[-1]}">{html.escape(cell)}</td>' if cell == line[-1]
                        else f"<td>{html.escape(cell)}</td>" for cell in line)
        yield f"<tr>{cells}</tr>"
    yield "</table>"


def page(told, pictures):
    about = "<br>".join(html.escape(line) for line in heading(told))
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>The Split-C suite</title>",
             f"<style>{STYLE}</style><h1>The Split-C suite beside its MPI twins</h1>",
             f'<p class="about">{about}</p>']
    parts += [f"<h2>{html.escape(title)}</h2>{svg_of(figure)}" for _, title, figure in pictures]
    parts += ["<h2>All figures</h2>", *html_table(table(told)), f"<p>{NOTE}</p>"]
    for title, lines, note in more_tables(told):
        parts += [f"<h2>{title}</h2>", *html_table(lines), f"<p>{note}</p>"]
    if told["failures"]:
        parts.append("<h2>Failures</h2><ul>" + "".join(
            f"<li>{html.escape(text)}</li>" for text in told["failures"]) + "</ul>")
    return "\n".join(parts) + "\n"


def plain_table(lines):
    lines = list(lines)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def write(told, folder):
    """Write everything; returns what to print."""
    pictures = draw_all(told)
    for name, _, figure in pictures:
        figure.savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight")
    (folder / "report.md").write_text(markdown(told, pictures), encoding="utf-8")
    (folder / "report.html").write_text(page(told, pictures), encoding="utf-8")
    shown = plain_table(table(told))
    for title, lines, _ in more_tables(told):
        shown += ["", title, *plain_table(lines)]
    shown += [f"failed: {text}" for text in told["failures"]]
    if not pictures:
        shown.append("no plots: install python3-matplotlib for them")
    return "\n".join(shown + [f"report: {folder / 'report.html'}"])
