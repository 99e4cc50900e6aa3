# SPDX-License-Identifier: BSD-3-Clause
"""Starts programs one after the other, each bounded in time, until a deadline."""
import dataclasses
import os
import signal
import subprocess
import sys
import time
from typing import Callable


class Failure(Exception):
    """Why a command has no result."""


class TimedOut(Failure):
    """The command was still running when its time was over."""


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


def end(process):
    """End a process that leads its process group, and everything else in that group."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(5)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def run(command, seconds):
    """What the command prints, and how many nanoseconds it took; raises Failure or OSError."""
    start = time.monotonic_ns()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise TimedOut(f"not done after {seconds:.0f} s") from None
        except BaseException:
            end(process)
            raise
    if process.returncode != 0:
        raise Failure(first_line(err) if err.strip() else f"exit code {process.returncode}")
    return out, time.monotonic_ns() - start


@dataclasses.dataclass
class Step:
    """One start of a program."""

    who: str  # takes part: ours, a limit of the machine, or a peer
    what: str  # is measured
    command: list
    take: Callable  # is given what the program prints and its nanoseconds; may raise Failure

    @property
    def key(self):
        """Steps with the same key measure the same once more."""
        return self.who, self.what


class Runner:
    """Runs the steps of a plan in their order.

    A step that fails is not repeated, and its failure is kept.  A program has `each` seconds, and
    after `seconds` no more is started.
    """

    def __init__(self, name, seconds, each):
        self.name = name
        self.each = each
        self.begun = time.monotonic()
        self.deadline = self.begun + seconds
        self.failures = []
        self.given_up = set()  # keys of steps that failed
        self.last_took = {}  # by key: seconds

    def run(self, plan):
        plan = list(plan)
        for done, step in enumerate(plan):
            if self.is_wanted(step):
                self.show(f"[{done}/{len(plan)}] {step.who}, {step.what}", self.left(plan[done:]),
                          done % max(1, len(plan) // 10) == 0)
                begun = time.monotonic()
                self.run_step(step)
                self.last_took[step.key] = time.monotonic() - begun
        self.show("", None, False)

    def left(self, steps):
        """About how many seconds these take, until the deadline at most; None: nobody knows yet.

        A step takes what the last one with its key took, and a new one what they take on average.
        """
        if not self.last_took:
            return None
        mean = sum(self.last_took.values()) / len(self.last_took)
        seconds = sum(self.last_took.get(step.key, mean) for step in steps
                      if step.key not in self.given_up)
        return min(seconds, max(0, self.deadline - time.monotonic()))

    def is_wanted(self, step):
        """Whether the step is run; asked when its turn comes."""
        return step.key not in self.given_up

    def seconds_for(self, step):  # pylint: disable=unused-argument
        """How long the step may take; 0: there is no time left for it."""
        left = self.deadline - time.monotonic()
        return min(self.each, left + 1) if left > 0 else 0

    def run_step(self, step):
        seconds = self.seconds_for(step)
        if not seconds:
            self.give_up(step, "no time was left")
            return
        try:
            step.take(*self.start(step, seconds))
        except TimedOut as error:
            self.give_up_timed_out(step, error)
        except (OSError, Failure) as error:
            self.give_up(step, error)

    def start(self, step, seconds):
        """What the step's program prints, and its nanoseconds."""
        return run(step.command, seconds)

    def give_up(self, step, why):
        self.given_up.add(step.key)
        self.failures.append(f"{step.who}, {step.what}: {why}")

    def give_up_timed_out(self, step, error):
        self.give_up(step, error)

    def show(self, text, left, is_milestone):
        """Show how far the run is: in place on a terminal, elsewhere a line now and then."""
        passed = time.monotonic() - self.begun
        ahead = f", some {left:.0f} s left" if left is not None else ""
        line = f"{self.name} {text} ({passed:.0f} s{ahead})" if text else ""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif is_milestone:
            print(line, file=sys.stderr, flush=True)
