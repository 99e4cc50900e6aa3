# SPDX-License-Identifier: BSD-3-Clause
"""A report of several benchmarks: report.md, report.html, and the plots as files."""
import html

from bench import files, peers, plots

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em;
       color: #222; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
.pass { color: #18794e; } .miss { color: #b42318; font-weight: bold; }
svg { max-width: 100%; height: auto; } .about { color: #555; }
"""


def heading(data):
    machine = data["machine"]
    versions = ", ".join(f"{peers.TITLES[name]} {version}"
                         for name, version in data["peers"].items())
    return [f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_mib']} MiB, "
            f"Linux {machine['kernel']}",
            f"{data['when']}; {'quick run, ' if data['quick'] else ''}median of {data['turns']} "
            f"turns; load {data['load_before']:.1f} before, {data['load_after']:.1f} after",
            f"beside {versions}" if versions else "without peers"]


def markdown(title, data, parts):
    texts = [f"# {title}", "\n".join(heading(data)), *(part.markdown() for part in parts)]
    if data["failures"]:
        texts.append("## Failures\n" + "\n".join(f"- {text}" for text in data["failures"]))
    return "\n\n".join(texts) + "\n"


def page(title, data, parts):
    about = "<br>".join(html.escape(line) for line in heading(data))
    texts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>",
             f"<style>{STYLE}</style><h1>{title}</h1>", f'<p class="about">{about}</p>']
    texts += [text for part in parts for text in part.html()]
    if data["failures"]:
        texts.append("<h2>Failures</h2><ul>" + "".join(
            f"<li>{html.escape(text)}</li>" for text in data["failures"]) + "</ul>")
    return "\n".join(texts) + "\n"


def write(title, measured, folder):
    """Write the report of `measured`, which has a driver and its results for each benchmark; the
    first result's machine and failures are those of the report."""
    plt, parts = plots.pyplot(), []
    for driver, data in measured:
        if plt:
            parts += driver.pictures(plt, data)
        parts += driver.tables(data)
    for part in parts:
        if isinstance(part, plots.Picture):
            part.save(folder)
    data = measured[0][1]
    files.write(folder / "report.md", markdown(title, data, parts))
    files.write(folder / "report.html", page(title, data, parts))
    if not plt:
        print("no plots: install python3-matplotlib for them")
    print(f"report: {folder / 'report.html'}")
