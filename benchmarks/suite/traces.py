# SPDX-License-Identifier: BSD-3-Clause
"""What traces of short runs tell: bytes from rank to rank, and when ranks did what."""
import json
import pathlib
import subprocess
import tempfile

import twins

FETCHES = ("bulk_read", "bulk_get")
COLOURS = {"computes": "#0b6e99", "waits": "#9fd0e4", "transfers": "#d9822b"}


# ---- running ------------------------------------------------------------------------------


def run(build, ranks, program, arguments):
    """The events of a run, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        launcher, *rest = twins.ours(build, ranks, program, *arguments)
        try:
            done = subprocess.run([launcher, "--trace", path, *rest], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != 0:
                return None, twins.micro.first_line(done.stderr) or f"exit code {done.returncode}"
            return json.loads(path.read_text(encoding="utf-8"))["traceEvents"], None
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            return None, str(error)


def matrix_of(events, ranks):
    """matrix[from][to] is the bytes of bulk transfers."""
    matrix = [[0] * ranks for _ in range(ranks)]
    for event in events:
        if event.get("cat") == "bulk":
            here, there = event["pid"], event["args"]["rank"]
            source, target = (there, here) if event["name"] in FETCHES else (here, there)
            matrix[source][target] += event["args"]["bytes"]
    return matrix


def spans_of(events):
    """(rank, what, begin, duration) in microseconds from the first on, without the end."""
    kinds = {"bulk": "transfers", "wait": "waits"}
    spans = [(event["pid"], kinds[event["cat"]], event["ts"], event["dur"]) for event in events
             if event.get("cat") in kinds and event["name"] != "its end"]
    begin = min((span[2] for span in spans), default=0)
    return [[rank, what, round(at - begin, 3), dur] for rank, what, at, dur in spans]


def of_case(build, case, ranks):
    """The trace of a quick run of a case as it goes into the report, or why there is none."""
    events, why = run(build, ranks, case.program, case.arguments(ranks, True))
    if why:
        return None, why
    return {"case": case.title, "ranks": ranks, "matrix": matrix_of(events, ranks),
            "spans": spans_of(events)}, None


# ---- drawing ------------------------------------------------------------------------------


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


def draw_matrices(plt, traces):
    columns, lines = 3, (len(traces) + 2) // 3
    figure, grid = plt.subplots(lines, columns, figsize=(9, 3 * lines), layout="constrained",
                                squeeze=False)
    for axes, trace in zip(grid.flat, traces):
        draw_matrix(axes, trace)
    for axes in grid.flat[len(traces):]:
        axes.set_visible(False)
    figure.suptitle("bytes from rank to rank", fontsize=10)
    figure.supxlabel("to rank")
    figure.supylabel("from rank")
    return figure


def draw_timeline(plt, trace):
    spans, ranks = trace["spans"], trace["ranks"]
    end = max(at + dur for _, _, at, dur in spans)
    figure, axes = plt.subplots(figsize=(11, 0.6 + 0.5 * ranks), layout="constrained")
    for rank in range(ranks):
        axes.broken_barh([(0, end)], (rank - 0.35, 0.7), color=COLOURS["computes"])
    for what in ("waits", "transfers"):
        for rank in range(ranks):
            axes.broken_barh([(at, dur) for who, kind, at, dur in spans
                              if who == rank and kind == what],
                             (rank - 0.35, 0.7), color=COLOURS[what])
    axes.set_xlim(0, end)
    axes.set_ylim(ranks - 0.5, -0.5)
    axes.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    axes.set_xlabel("microseconds")
    axes.set_title(f"{trace['case']} on {ranks} ranks", fontsize=10)
    patch = plt.matplotlib.patches.Patch
    axes.legend(handles=[patch(color=colour, label=what) for what, colour in COLOURS.items()],
                ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.1), frameon=False)
    return figure


def draw_all(plt, traces):
    """(file name, title, figure) of each."""
    traces = [trace for trace in traces if trace["spans"]]
    if not traces:
        return []
    return [("matrix", "Bytes of bulk transfers from rank to rank, in short runs",
             draw_matrices(plt, traces)),
            ("timeline", "What each rank does when, in a short run",
             draw_timeline(plt, traces[0]))]
