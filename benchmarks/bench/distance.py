# SPDX-License-Identifier: BSD-3-Clause
"""How far apart the two processors are on which a benchmark runs.

The host of a virtual machine moves its processors.  Where a cache line takes longer between them,
so do many messages, ours and others', but not all by the same factor.  What is measured between
networks is judged by the runs on near ones, if everybody has some.
"""
import collections
import subprocess

from bench.runner import Runner

NEAR_NS = 300  # that a cache line takes to and fro at most


def place(program):
    """near or far; None: there is one processor, or the program is not there."""
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=10, check=True)
        return ("near" if float(done.stdout) <= NEAR_NS else "far") if done.stdout else None
    except (OSError, subprocess.SubprocessError):
        return None


class PlacedRunner(Runner):
    """Tells samples where each program ran: near, far, or mixed if that changed meanwhile."""

    def __init__(self, name, options, samples):
        super().__init__(name, options.effort.limit, options.effort.each)
        self.program = options.build / "bin" / "core_distance"
        self.samples = samples
        self.runs = collections.Counter()

    def start(self, step, seconds):
        before = place(self.program)
        result = super().start(step, seconds)
        after = place(self.program)
        self.samples.place = before if before == after else "mixed"
        self.runs[self.samples.place] += 1
        return result

    def note(self):
        """A sentence about the runs, or nothing."""
        near, known = self.runs["near"], sum(self.runs.values()) - self.runs[None]
        return (f"The processors were near one another in {near} of {known} runs (a cache line "
                f"takes at most {NEAR_NS} ns to and fro); a row is of these alone if everybody in "
                "it has some." if known else "")
