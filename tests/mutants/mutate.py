#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts faults into a copy of the tree, one at a time, and tells which of them a test notices.

Without --generate the faults are those of tests/mutants/LAYER/NAME.patch (fault.py tells their
format), all of them or those named; with it they are made from the source (generate.py), and those
that survive are kept in build-mutate/survivors/, which --again runs once more.  What
tests/mutants/LAYER/explained gives a reason for survives without being run.
"""
import argparse
import collections
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time

import copy_of_tree
import fault as faults
import generate
from copy_of_tree import Copy, Trouble

QUICK = 0.3  # seconds: what takes no longer without a fault is a quick test ...
HANGS = 10  # ... and when it takes so long, it hangs

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Verdict:
    """What became of one fault."""

    word: str  # caught, survived, not run, or what keeps it from being tried
    by: str
    seconds: float
    good: bool


def say(text):
    print(text, flush=True)


def first_error(output):
    lines = [line for line in output.splitlines() if "error" in line.lower()]
    return (lines or output.splitlines()[-1:] or [""])[0].strip()[:120]


def survivors():
    return SOURCE / "build-mutate" / "survivors"


def remember(fault, verdict):
    """Keeps those that survive for --again, and no others."""
    if verdict.word == "survived":
        fault.write(survivors())
    elif verdict.good:
        fault.path(survivors()).unlink(missing_ok=True)


class Trial:
    """Faults, the copy that they are put into, and how long tests may take."""

    def __init__(self, copy, seconds, reasons):
        self.copy, self.seconds, self.reasons = copy, seconds, reasons
        self.clean_objects = {}
        self.parts = {}  # of a stage: the places of its quick tests and of the others, and how long
        # any of these may take

    def prove_tests(self, chosen):
        """Tests that fail without any fault, or take as long as with one that hangs, would catch
        everything."""
        targets = sorted({target for f in chosen for target in f.suite.targets})
        suites = {tuple(f.suite.stages): f.suite for f in chosen}
        say(f"mutate: building, and running the tests of {len(chosen)} faults without any")
        complaint = self.copy.build(targets)
        if complaint:
            raise Trouble(f"the tree does not build: {first_error(complaint)}")
        self.clean_objects = self.copy.objects({file for f in chosen for file in f.files()})
        for suite in suites.values():
            self.prove_suite(suite)

    def prove_suite(self, suite):
        for stage in suite.stages:
            if not self.copy.test_numbers(stage):
                raise Trouble(f"no test is called '{stage}', as Tests: says")
        for _ in range(2):  # a busy machine may upset one
            begin = time.monotonic()
            tests = self.copy.test("|".join(f"({stage})" for stage in suite.stages), self.seconds)
            took = time.monotonic() - begin
            if not tests.failed:
                break
        if tests.timed_out or not tests.failed and took > self.seconds / 2:
            raise Trouble(f"{' and '.join(suite.stages)}: takes {took:.0f} s without any fault; "
                          f"--seconds has to be twice that")
        if tests.failed:
            raise Trouble(f"without any fault, too, this fails: {', '.join(tests.failed)}\n" +
                          tests.output[-4000:])
        for stage in suite.stages:
            took = [tests.seconds.get(n, 0) for n in self.copy.test_numbers(stage)]
            quick = [place for place, seconds in enumerate(took, 1) if seconds < QUICK]
            others = [place for place, seconds in enumerate(took, 1) if seconds >= QUICK]
            self.parts[stage] = [part for part in ((quick, HANGS), (others, self.seconds)) if part[0]]

    def run_tests(self, fault):
        """Quick tests come first: those that take long may hang with a fault in."""
        skipped = []
        end = time.monotonic() + self.seconds
        for stage, (places, silence) in ((s, part) for s in fault.suite.stages for part in self.parts[s]):
            tests = self.copy.test_until_failure(stage, places, max(1, end - time.monotonic()), silence)
            skipped += tests.skipped
            if tests.failed:
                late = " (hangs)" if tests.timed_out else ""
                return "caught", tests.failed[0] + late, True
        if skipped:
            return "not run", "skipped: " + ", ".join(skipped), True
        return "survived", "", False

    def build_and_test(self, fault):
        if not self.copy.apply(fault.patch):
            return "does not apply", "make the patch anew", False
        complaint = self.copy.build(fault.suite.targets)
        if complaint:
            return "does not build", first_error(complaint), fault.generated
        objects = self.copy.objects(fault.files())
        if objects and objects.items() <= self.clean_objects.items():
            return "equivalent", "the same machine code", fault.generated
        return self.run_tests(fault)

    def judge(self, fault):
        if fault.generated and fault.reason(self.reasons):
            return Verdict("explained", fault.reason(self.reasons), 0, True)
        begin = time.monotonic()
        try:
            word, by, good = self.build_and_test(fault)
        finally:
            self.copy.restore()
        return Verdict(word, by, time.monotonic() - begin, good)

    def judge_all(self, chosen):
        """Each fault with its verdict."""
        self.prove_tests(chosen)
        results = []
        for number, fault in enumerate(chosen, 1):
            verdict = self.judge(fault)
            results.append((fault, verdict))
            if fault.generated:
                remember(fault, verdict)
            say(f"[{number}/{len(chosen)}] {fault.name}: {verdict.word} {verdict.by}")
        return results


def chosen_faults(options):
    """Hand-made ones, or those that survived before."""
    def is_called(fault, name):
        return name in (fault.name, fault.name.partition("/")[2])

    chosen = faults.saved_faults(survivors()) if options.again else faults.all_faults()
    for name in options.names:
        if not any(is_called(f, name) for f in chosen):
            raise Trouble(f"there is no fault '{name}' in {survivors() if options.again else faults.FOLDER}")
    return [f for f in chosen if any(generate.concerned(path, options) for path in f.files()) and
            (not options.names or any(is_called(f, name) for name in options.names))]


def check_all():
    """Whether every patch applies to the working tree; needs no build."""
    bad = 0
    for fault in faults.all_faults():
        done = subprocess.run(["git", "apply", "--check", "-"], cwd=SOURCE, input=fault.patch,
                              text=True, capture_output=True, check=False)
        if done.returncode != 0:
            bad += 1
            say(f"mutate: {fault.name} does not apply, make the patch anew: {done.stderr.strip()}")
    return 1 if bad else 0


def parse(words):
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="hand-made faults: NAME or LAYER/NAME")
    parser.add_argument("--files", action="append", metavar="GLOB",
                        help="faults in these files alone; may be repeated")
    parser.add_argument("--except", dest="without", action="append", default=[], metavar="GLOB",
                        help="none in these files; may be repeated")
    parser.add_argument("--seconds", type=int, default=120, metavar="N",
                        help="how long the tests of one fault may take (default 120)")
    parser.add_argument("--check", action="store_true", help="see whether all patches apply, no more")
    parser.add_argument("--generate", action="store_true", help="faults made from the source")
    parser.add_argument("--again", action="store_true", help="generated faults that survived before")
    parser.add_argument("--changed", metavar="BASE", help="generate in lines changed since BASE")
    parser.add_argument("--count", type=int, default=20, metavar="N",
                        help="generate so many (default 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="choose them by this number")
    options = parser.parse_args(words)
    if options.seconds < 1 or options.count < 1:
        parser.error("--seconds and --count take a positive number")
    if options.generate and (options.names or options.again) or options.changed and not options.generate:
        parser.error("names and --again are of faults that are there, --changed is of those to generate")
    options.files = options.files or ["*"]
    return options


def tell(results):
    """The table, and whether all is well."""
    width = max(len(fault.name) for fault, _ in results)
    say("")
    for fault, verdict in results:
        say(f"{fault.name:{width}}  {verdict.word:14}  {verdict.seconds:4.0f} s  {verdict.by}")
    count = collections.Counter(verdict.word for _, verdict in results)
    caught = count.pop("caught", 0)
    say(f"\n{caught} of {caught + count['survived'] + count['explained']} faults caught" +
        "".join(f", {number} {word}" for word, number in sorted(count.items())))
    for fault, verdict in results:
        if not verdict.good:
            say(f"\n{verdict.word}: {fault.name}: {fault.sentence}\n{fault.patch}")
    return all(verdict.good for _, verdict in results)


def interrupted(_signal, _frame):
    raise KeyboardInterrupt


def main(words):
    options = parse(words)
    if options.check:
        return check_all()
    copy_of_tree.adopt_orphans()
    signal.signal(signal.SIGTERM, interrupted)
    copy = Copy(SOURCE, SOURCE / "build-mutate" / "tree", os.cpu_count())
    if options.generate:
        chosen = generate.chosen(SOURCE, options)
    else:
        chosen = chosen_faults(options)
    if not chosen:
        raise Trouble("no fault is in such files" if not options.again else "no fault has survived")
    if copy.left_out():
        say("mutate: files that git does not know are left out: " + " ".join(copy.left_out()[:5]))
    with copy.locked():
        copy.renew()
        copy.configure()
        return 0 if tell(Trial(copy, options.seconds, faults.explained()).judge_all(chosen)) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Trouble, faults.Malformed) as trouble:
        sys.exit(f"mutate: {trouble}")
    except KeyboardInterrupt:
        copy_of_tree.kill_descendants()
        sys.exit(130)
