# SPDX-License-Identifier: BSD-3-Clause
"""Tables of text, for the terminal, Markdown and HTML, and how numbers are written in them."""
import dataclasses
import html

from bench import peers


@dataclasses.dataclass
class Table:
    """The first line has the names of the columns; all cells are text.

    A cell of the last column may be a verdict: "pass" or "miss".
    """

    title: str
    lines: list
    note: str = ""

    def __post_init__(self):
        self.lines = list(self.lines)

    def plain(self):
        return "\n".join([self.title, *align(self.lines)]) + "\n"

    def markdown(self):
        first, *rest = self.lines
        rule = ["---"] + ["---:"] * (len(first) - 2) + ["---"]
        grid = "\n".join("| " + " | ".join(line) + " |" for line in [first, rule, *rest])
        return "\n\n".join(text for text in (f"## {self.title}", grid, self.note) if text)

    def html(self):
        yield f"<h2>{html.escape(self.title)}</h2>"
        first, *rest = self.lines
        yield "<table><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in first) + "</tr>"
        for line in rest:
            cells = "".join(f'<td class="{line[-1]}">{html.escape(cell)}</td>' if cell == line[-1]
                            else f"<td>{html.escape(cell)}</td>" for cell in line)
            yield f"<tr>{cells}</tr>"
        yield "</table>"
        yield f"<p>{html.escape(self.note)}</p>"


def align(lines, left=1):
    """Lines of text, of lines of cells: so many columns are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(cell.ljust(width) if i < left else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def number(value, form="{:.3g}"):
    return "-" if value is None else form.format(value)


def ratio(value):
    return number(value or None, "{:.2f}")


def size(count):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count // unit} {name}"
    return f"{count} B"


def seconds(value):
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


MEASURED_NOTE = "Medians; ratios are of times or of rates, ours to theirs."


def measured(title, data):
    """The table of rows that results.Row has made: medians beside limits and peers."""
    def lines():
        who = ["ours", "raw", *data["peers"]]
        yield ["", "unit", *("limit" if name == "raw" else peers.TITLES.get(name, "Split-C")
                             for name in who),
               "95 % of ours", "of the limit's", "of the best peer's", "aim", ""]
        for row in data["rows"]:
            found = row["figures"]
            mine = found.get("ours")
            yield [row["title"], row["unit"],
                   *(number(found[name]["median"]) if name in found else "-" for name in who),
                   f"{mine['low']:.3g} to {mine['high']:.3g}" if mine else "-",
                   ratio(row["ratio_raw"]), ratio(row["ratio_peer"]),
                   "; ".join(aim["aim"] for aim in row["aims"]), row["verdict"]]
    return Table(title, lines(), f"{MEASURED_NOTE} {data.get('cores', '')}".strip())
