# SPDX-License-Identifier: BSD-3-Clause
"""What traces of short runs tell: bytes from rank to rank, and when ranks did what."""
import json
import pathlib
import tempfile

import programs
from bench import runner

FETCHES = ("bulk_read", "bulk_get")


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
    """The trace of a quick run of a case as it goes into the report; raises Failure or OSError."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        launcher, *rest = programs.ours(build, ranks, case.program, *case.arguments(ranks, True))
        runner.run([launcher, "--trace", path, *rest], 60)
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return {"case": case.title, "ranks": ranks, "matrix": matrix_of(events, ranks),
            "spans": spans_of(events)}
