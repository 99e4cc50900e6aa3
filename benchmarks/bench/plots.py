# SPDX-License-Identifier: BSD-3-Clause
"""Plots by matplotlib, where there is one."""
import dataclasses
import io

from bench import files


@dataclasses.dataclass
class Picture:
    """A figure of matplotlib's, and the name of its files."""

    title: str
    name: str
    figure: object

    def save(self, folder):
        for kind in ("png", "svg"):
            out = io.BytesIO()
            self.figure.savefig(out, format=kind, dpi=110, bbox_inches="tight")
            files.write(folder / f"{self.name}.{kind}", out.getvalue())

    def markdown(self):
        return f"![{self.title}]({self.name}.png)"

    def html(self):
        yield f"<h2>{self.title}</h2>"
        out = io.StringIO()
        self.figure.savefig(out, format="svg", bbox_inches="tight")
        text = out.getvalue()
        yield text[text.index("<svg"):]


def pyplot():
    """matplotlib's pyplot, or None."""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        from matplotlib import pyplot as plt  # pylint: disable=import-outside-toplevel
        return plt
    except ImportError:
        return None


def grid(plt, count, columns, height, width):
    """A figure, and so many of its axes; those that fill up its last line are hidden."""
    lines = (count + columns - 1) // columns
    figure, axes = plt.subplots(lines, columns, figsize=(width, height * lines),
                                layout="constrained", squeeze=False)
    for unused in axes.flat[count:]:
        unused.set_visible(False)
    return figure, axes.flat[:count]


def legend_below(figure, handles, **options):
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False,
                  **options)
