# SPDX-License-Identifier: BSD-3-Clause
"""report.md, report.html and the plots of a run of the suite, and of what else it is given."""
import dataclasses
import html
import io
import pathlib
import sys

import papers
import traces

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "curves"))
import draw  # pylint: disable=wrong-import-position

NAMES = {"ours": "Split-C", "udp": "Split-C over udp", "eth": "Split-C over eth",
         "mpich": "MPICH", "openmpi": "Open MPI", "ucx": "UCX"}
COLOURS = {"ours": "#0b6e99", "udp": "#0b6e99", "eth": "#2a9d8f", "mpich": "#d9822b",
           "openmpi": "#7a5195"}
PALE = {"ours": "#9fd0e4", "udp": "#9fd0e4", "eth": "#a8dcd5", "mpich": "#f5cfa5",
        "openmpi": "#cbb7da"}  # of the communication


@dataclasses.dataclass
class Table:
    """Its first line has the columns' names; all cells are text."""

    title: str
    lines: list
    note: str = ""


@dataclasses.dataclass
class Picture:
    """A figure of matplotlib's, and the name of its file."""

    title: str
    name: str
    figure: object


def who_took_part(rows):
    return [who for who in NAMES if any(who in row["figures"] for row in rows)]


TITLE = "The Split-C suite beside its MPI twins"


def rows_of(told, ranks):
    return [row for row in told["rows"] if row["ranks"] == ranks and "ours" in row["figures"]]


def all_ranks(told):
    return sorted({row["ranks"] for row in told["rows"]})


def time_text(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


# ---- tables ---------------------------------------------------------------------------------


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


def time_cell(row, name):
    if name in row["figures"]:
        return time_text(row["figures"][name]["time"])
    return f"> {row['too_slow'][name]} s" if name in row["too_slow"] else "-"


def interval_text(figure):
    return f"{time_text(figure['low'])} to {time_text(figure['high'])}" if figure else "-"


def main_table(told):
    """Header and rows, all text."""
    who = who_took_part(told["rows"])
    yield ["case", "ranks", *(NAMES[name] for name in who), "95 % of ours", "of it communication",
           "ratio", "at most", "aim", ""]
    for row in told["rows"]:
        mine = row["figures"].get("ours")
        spent = mine["computation"] + mine["communication"] if mine else 0
        yield [row["case"], str(row["ranks"]), *(time_cell(row, name) for name in who),
               interval_text(mine), f"{100 * mine['communication'] / spent:.0f} %" if spent else "-",
               f"{row['ratio']:.2f}" if row["ratio"] else "-", bound_text(row),
               f">= {row['aim']:g}" if row["aim"] else "", row["verdict"]]


def first_ranks(told):
    """As many as have a core each."""
    fitting = [ranks for ranks in all_ranks(told) if ranks <= told["machine"]["cores"]]
    return max(fitting, default=None)


def first_table(told):
    """Header and rows: the first turns."""
    rows = rows_of(told, first_ranks(told))
    who = who_took_part(rows)
    yield ["case", "ranks", *(f"{NAMES[name]}{what}" for name in who for what in ("", ", warm"))]
    for row in rows:
        figures = [row["figures"].get(name) for name in who]
        yield [row["case"], str(row["ranks"]),
               *(time_text(figure[turn]) if figure else "-" for figure in figures
                 for turn in ("first", "time"))]


def weak_table(told):
    """Header and rows: throughput where each rank has as much to do, however many there are."""
    ranks = all_ranks(told)
    yield ["case", *(f"{count} ranks" for count in ranks),
           f"one per core, as much as {ranks[-1]}", "kept of that", "kept", "aim", ""]
    for row in told["weak"]:
        yield [row["case"], *(rate_text(row["rates"].get(count), row["unit"]) for count in ranks),
               rate_text(row["same"], row["unit"]),
               f"{row['kept_of_same']:.2f}" if row["kept_of_same"] else "-",
               f"{row['kept']:.2f}" if row["kept"] else "-", f">= {row['aim']:g}", row["verdict"]]


def hosts_table(told):
    """Header and rows: what is between two hosts."""
    peers = [who for who in who_took_part(told["hosts"]) if who in told["peers"]]
    yield ["case", "Split-C over", "Split-C", "speed-up", *(NAMES[who] for who in peers), "ratio",
           "aim", ""]
    for row in told["hosts"]:
        yield [row["case"], row["network"],
               time_cell(row, row["network"]),
               f"{row['speed_up']:.2f}" if row["speed_up"] else "-",
               *(time_cell(row, who) for who in peers),
               f"{row['ratio']:.2f}" if row["ratio"] else "-", f">= {row['aim']:g}",
               row["verdict"]]


def measured_table(told):
    """Of what `dev bench micro` or `net` wrote: medians, and where ours lies with 95 %."""
    who = ["ours", "raw", *told["peers"]]
    yield ["", "unit", *("limit" if name == "raw" else NAMES.get(name, name) for name in who),
           "95 % of ours", "of the limit's", "of the best peer's", "aim", ""]
    for row in told["rows"]:
        found = row["figures"]
        mine = found.get("ours")
        yield [row["title"], row["unit"],
               *(f"{found[name]['median']:.3g}" if name in found else "-" for name in who),
               f"{mine['low']:.3g} to {mine['high']:.3g}" if mine else "-",
               *(f"{row[name]:.2f}" if row[name] else "-" for name in ("ratio_raw", "ratio_peer")),
               "; ".join(aim["aim"] for aim in row["aims"]), row["verdict"]]


def rate_text(rate, unit):
    return f"{rate / 1e6:.1f} M {unit}/s" if rate else "-"


NOTE = ("The times are those of the slowest processor. The ratio is the best peer's time to ours; "
        "it could be at most what is said beside it if our communication took no time.")
HOSTS_NOTE = ("The hosts are namespaces of one machine, joined by a bridge, with a rank and a core each; "
              "the peers use TCP. The speed-up is that of our rate over our rate on one rank.")
FIRST_NOTE = ("Every program does its problem twice, and everywhere else the second time counts. "
              "The first finds memory that its process has never touched, and pays for new pages; "
              "what that takes is up to the system and, on a virtual machine, to its host.")
WEAK_NOTE = ("What is kept is the throughput with most ranks against that of one rank per core. "
             "With more ranks there is more to sort, and less of it in the caches: kept of that is "
             "against one rank per core that has as much to do as all those ranks.")
MEASURED_NOTE = "Medians; ratios are of times or of rates, ours to theirs."


def program_tables(told):
    """Those of the suite itself."""
    yield Table("All programs", list(main_table(told)), NOTE)
    if rows_of(told, first_ranks(told)):
        yield Table("The first turn", list(first_table(told)), FIRST_NOTE)
    if told["weak"]:
        yield Table("Throughput, each rank having as much to do", list(weak_table(told)), WEAK_NOTE)
    if told["hosts"]:
        yield Table("Between two hosts, a rank on each", list(hosts_table(told)), HOSTS_NOTE)
    for title, lines, note in papers.tables(told):
        yield Table(title, list(lines), note)


def message_tables(told):
    """Those of the other benchmarks, where they took part."""
    if told.get("curves"):
        for title, lines, note in draw.tables(told["curves"]):
            yield Table(title, list(lines), note)
    for name, title in (("micro", "What the pieces cost on one node"),
                        ("net", "Messages between two networks")):
        if told.get(name):
            yield Table(title, list(measured_table(told[name])), MEASURED_NOTE)


# ---- text ------------------------------------------------------------------------------------


def markdown_table(lines):
    rule = ["---"] + ["---:"] * (len(lines[0]) - 2) + ["---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule] + lines[1:])


def markdown_part(part):
    if isinstance(part, Picture):
        return f"![{part.title}]({part.name}.png)"
    return "\n\n".join(text for text in (f"## {part.title}", markdown_table(part.lines), part.note)
                       if text)


def markdown(told, parts):
    texts = [f"# {TITLE}", "\n".join(heading(told)), *map(markdown_part, parts)]
    if told["failures"]:
        texts.append("## Failures\n" + "\n".join(f"- {text}" for text in told["failures"]))
    return "\n\n".join(texts) + "\n"


# ---- pictures -------------------------------------------------------------------------------


def bars(plt, rows, unit, title):
    """Everybody's time in units of one of them, divided into computation and communication."""
    who = who_took_part(rows)
    figure, axes = plt.subplots(figsize=(11, 4.8), layout="constrained")
    width, top = 0.8 / len(who), 4.0
    for number, name in enumerate(who):
        for place, row in enumerate(rows):
            at = place - 0.4 + (number + 0.5) * width
            if name in row["figures"]:
                draw_bar(axes, at, width, name, row["figures"][name],
                         row["figures"][unit]["time"], top)
            elif name in row["too_slow"]:
                draw_endless_bar(axes, at, width, name, row["too_slow"][name], top)
    axes.set_xticks(range(len(rows)), [row["case"].replace(", ", ",\n") for row in rows],
                    rotation=35, ha="right", fontsize=9)
    axes.set_ylim(0, top)
    axes.set_ylabel(f"time, {NAMES[unit]} = 1")
    axes.axhline(1, color="#888888", linewidth=0.8, zorder=0)
    axes.set_title(title)
    patch = plt.matplotlib.patches.Patch
    figure.legend(handles=[patch(color=colours[name], label=f"{NAMES[name]}: {what}")
                           for name in who for colours, what in
                           ((COLOURS, "computation"), (PALE, "communication"))],
                  ncols=len(who), fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0),
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


def draw_endless_bar(axes, at, width, name, seconds, top):
    axes.bar(at, top, width * 0.92, color="none", edgecolor=COLOURS[name], hatch="//", linewidth=0)
    axes.text(at, top * 0.985, f"> {seconds} s", ha="center", va="top", fontsize=7, rotation=90,
              bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})


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
                                         label=NAMES[name]) for name in who_took_part(told["rows"])]
    figure.legend(handles=lines, ncols=len(lines), loc="upper center", bbox_to_anchor=(0.5, 0),
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


def pyplot():
    """None where there is no matplotlib."""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        from matplotlib import pyplot as plt  # pylint: disable=import-outside-toplevel
        return plt
    except ImportError:
        return None


def hosts_rows(told):
    """A row of each case with all networks in it."""
    rows = {}
    for row in told["hosts"]:
        merged = rows.setdefault(row["case"], {"case": row["case"], "figures": {}, "too_slow": {}})
        merged["figures"].update(row["figures"])
        merged["too_slow"].update(row["too_slow"])
    return [row for row in rows.values() if "udp" in row["figures"]]


def program_pictures(plt, told):
    for ranks in all_ranks(told):
        rows = rows_of(told, ranks)
        title = f"Time on {ranks} rank{'s' if ranks > 1 else ''} (less is better)"
        if rows:
            yield Picture(title, f"time-{ranks}", bars(plt, rows, "ours", title))
    if hosts_rows(told):
        title = "Time between two hosts, a rank on each (less is better)"
        yield Picture(title, "time-hosts", bars(plt, hosts_rows(told), "udp", title))
    if len(all_ranks(told)) > 1:
        yield Picture("Rate against the number of ranks", "speed-up", speed_ups(plt, told))
    for name, title, figure in traces.draw_all(plt, told["traces"]):
        yield Picture(title, name, figure)


def message_pictures(plt, told):
    for name, title, figure in draw.draw_all(plt, told["curves"]) if told.get("curves") else ():
        yield Picture(title, name, figure)


def all_parts(told):
    """Pictures and tables in the report's order."""
    plt = pyplot()
    if not plt:
        return [*program_tables(told), *message_tables(told)]
    return [*program_pictures(plt, told), *program_tables(told), *message_pictures(plt, told),
            *message_tables(told)]


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


def html_part(part):
    yield f"<h2>{html.escape(part.title)}</h2>"
    if isinstance(part, Picture):
        yield svg_of(part.figure)
    else:
        yield from html_table(part.lines)
        yield f"<p>{html.escape(part.note)}</p>"


def page(told, parts):
    about = "<br>".join(html.escape(line) for line in heading(told))
    texts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>{TITLE}</title>",
             f"<style>{STYLE}</style><h1>{TITLE}</h1>", f'<p class="about">{about}</p>']
    texts += [text for part in parts for text in html_part(part)]
    if told["failures"]:
        texts.append("<h2>Failures</h2><ul>" + "".join(
            f"<li>{html.escape(text)}</li>" for text in told["failures"]) + "</ul>")
    return "\n".join(texts) + "\n"


def plain_table(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def write(told, folder):
    """Write everything; returns what to print: the programs, as the others have told theirs."""
    parts = all_parts(told)
    pictures = [part for part in parts if isinstance(part, Picture)]
    for picture in pictures:
        picture.figure.savefig(folder / f"{picture.name}.png", dpi=110, bbox_inches="tight")
        picture.figure.savefig(folder / f"{picture.name}.svg", bbox_inches="tight")
    (folder / "report.md").write_text(markdown(told, parts), encoding="utf-8")
    (folder / "report.html").write_text(page(told, parts), encoding="utf-8")
    shown = []
    for part in program_tables(told):
        shown += [part.title, *plain_table(part.lines), ""]
    shown += [f"failed: {text}" for text in told["failures"]]
    if not pictures:
        shown.append("no plots: install python3-matplotlib for them")
    return "\n".join(shown + [f"report: {folder / 'report.html'}"])
