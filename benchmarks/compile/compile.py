# SPDX-License-Identifier: BSD-3-Clause
"""What translation costs in processor time and memory, beside `cc -O2 -c` for its output.

The sources are always the same: modules made of random programs (compiler/test/random), and a
table as large as a generated parser's.
"""
import itertools
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

from bench import estimate
from bench.driver import Driver
from bench.runner import Runner, Step
from bench.table import Table

SIZES = {"full": [100, 1000, 10000, 100000], "quick": [100, 1000, 10000]}  # lines of modules
TABLE = {"full": 250000, "quick": 100000}
RUNS = 9  # of splitcc; cc runs less often on what takes it long
LIMIT = 1800  # seconds for all
# A small process that runs a command and prints what it used.  The system counts the memory of a
# process from before its program begins, when it still has that of the process that starts it.
METER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(code)
"""
C_COMPILER = os.environ.get("SPLITCC_CC") or "cc"


# ---- sources ------------------------------------------------------------------------------------


def program(generator, seed):
    """The random program of that seed; the seed is part of its names outside of functions."""
    text = subprocess.run([generator, "--no-teams", str(seed)], capture_output=True, text=True,
                          timeout=60, check=True).stdout
    return re.sub(r"\b(splitc_main|[ASRf]\d+)\b", rf"\1_{seed}", text)


def module_source(generator, lines):
    """A module of some `lines` lines, which consists of random programs.

    A program that would make the module more than a tenth too long is left out.  The programs
    share the head with which each of them begins.
    """
    text, missing = "", lines
    for seed in itertools.count(1):
        if missing <= lines // 20:
            return text + "\nint splitc_main(void)\n{\n    return 0;\n}\n"
        head, _, rest = program(generator, seed).partition("\n\nstruct ")
        rest = "\n\nstruct " + rest if text else f"{head}\n\nstruct {rest}"
        if rest.count("\n") <= missing + lines // 10:
            text += rest
            missing -= rest.count("\n")


TABLE_HEAD = """#include <split-c/split-c.h>

struct action {
    unsigned short state, symbol;
    short precedence;
    unsigned char extra, count;
};

"""
TABLE_TAIL = """};

static unsigned long found[PROCS]::;

void look_up(unsigned first, unsigned many)
{
    for (unsigned i = first; i < first + many; i++)
        found[MYPROC] += actions[i].state + names[actions[i].symbol][0] + next[i % states][1];
}
"""


def table_source(lines):
    """Initializers with designators, names and numbers, and a function that looks them up."""
    below = random.Random(1).randrange
    symbols, states = lines // 25, lines // 5
    symbol = "symbol_of_rule_{}".format
    yield TABLE_HEAD + f"enum {{ states = {states} }};\nenum symbol {{\n"
    for i in range(symbols):
        yield f"  {symbol(i)} = {i},\n"
    yield "};\n\nstatic const char *const names[] = {\n"
    for i in range(symbols):
        yield f'  [{symbol(i)}] = "rule {i}",\n'
    yield "};\n\nstatic const unsigned short next[][4] = {\n"
    for _ in range(states):
        yield f"  {{{below(65536)}, {below(65536)}, {below(256)}}},\n"
    yield "};\n\nstatic const struct action actions[] = {\n"
    for _ in range(2 * symbols + states, lines):
        yield (f"  {{.state = {below(65536)}, .symbol = {symbol(below(symbols))}, "
               f".precedence = -{below(100)}, .count = {below(9)}}},\n")
    yield TABLE_TAIL


# ---- measuring ----------------------------------------------------------------------------------


def sources(options):
    """Kind and text of each source, and how often cc compiles it."""
    amount = "quick" if options.quick else "full"
    generator = options.build / "test" / "random_splitc"
    for lines in SIZES[amount]:
        yield ("programs", module_source(generator, lines),
               1 if lines >= 10000 else 3 if lines >= 1000 else 9)
    yield "table", "".join(table_source(TABLE[amount])), 5


def metered(command):
    return [sys.executable, "-I", "-S", "-c", METER, *command]


def usage(text):
    """Processor seconds and megabytes of a metered command, by what it printed."""
    seconds, kilobytes = text.split()
    return float(seconds), int(kilobytes) / 1024


def steps(splitcc, folder, what, cc_runs, used):
    """Preprocess, translate and compile the source in the folder.

    In `used` there will be a list with the usage of each run, for each of the three.
    """
    source, preprocessed, c, made = (folder / f"m.{kind}" for kind in ("sc", "i", "c", "o"))
    commands = {"preprocessing": [splitcc, "-E", "-o", preprocessed, source],
                "translation": [splitcc, "-trans", "-o", c, source],
                "cc": [C_COMPILER, "-O2", "-w", "-fno-pie", "-x", "cpp-output", "-c", "-o", made, c]}
    for who, command in commands.items():
        used[who] = []
        for _ in range(cc_runs if who == "cc" else RUNS):
            yield Step(who, what, metered(command),
                       lambda text, _, who=who: used[who].append(usage(text)))


def row_of(kind, lines, used):
    """The row of a source; None if something failed."""
    if not all(used.values()):
        return None
    preprocess_s, whole_s, cc_s = (statistics.median(seconds for seconds, _ in used[who])
                                   for who in ("preprocessing", "translation", "cc"))
    splitcc_mb, cc_mb = (statistics.median(megabytes for _, megabytes in used[who])
                         for who in ("translation", "cc"))
    translate_s = max(whole_s - preprocess_s, 0)
    return {"title": f"{kind}, {lines} lines", "unit": "s", "source": kind, "lines": lines,
            "figures": {"ours": estimate.summary([max(seconds - preprocess_s, 0)
                                                  for seconds, _ in used["translation"]]),
                        "cc": estimate.summary([seconds for seconds, _ in used["cc"]])},
            "preprocess_s": preprocess_s, "translate_s": translate_s, "cc_s": cc_s,
            "time_ratio": translate_s / cc_s, "splitcc_mb": splitcc_mb, "cc_mb": cc_mb,
            "memory_ratio": splitcc_mb / cc_mb}


class Compile(Driver):
    name = "compile"
    summary = "What translation costs beside the C compiler."
    quick = "modules of at most 10,000 lines"
    peers = ()

    def measure(self, options):
        return self.measure_sources(options.build / "bin" / "splitcc", sources(options))

    def measure_sources(self, splitcc, all_sources):
        """Rows and failures of these sources."""
        plan, rows = [], []
        with tempfile.TemporaryDirectory() as name:
            for kind, text, cc_runs in all_sources:
                folder, lines, used = pathlib.Path(name) / str(len(rows)), text.count("\n"), {}
                folder.mkdir()
                (folder / "m.sc").write_text(text, encoding="ascii")
                plan += steps(splitcc, folder, f"{kind}, {lines} lines", cc_runs, used)
                rows.append((kind, lines, used))
            runner = Runner(self.name, LIMIT, LIMIT)
            runner.run(plan)
        return {"failures": runner.failures,
                "rows": [row for row in itertools.starmap(row_of, rows) if row]}

    def tables(self, data):
        lines = [["source", "lines", "preproc.", "translate", "cc -O2", "alone", "whole", "splitcc",
                  "cc", "ratio"]]
        for row in data["rows"]:
            whole = row["preprocess_s"] + row["translate_s"]
            lines.append([row["source"], str(row["lines"]),
                          *(f"{row[name]:.3f}" for name in ("preprocess_s", "translate_s", "cc_s")),
                          f"{100 * row['time_ratio']:.1f} %", f"{100 * whole / row['cc_s']:.1f} %",
                          f"{row['splitcc_mb']:.0f}", f"{row['cc_mb']:.0f}",
                          f"{row['memory_ratio']:.2f}"])
        return [Table("processor seconds; translation alone, and with the preprocessor, as parts of"
                      f"\nwhat `{C_COMPILER} -O2 -c` takes for the translated file; the most memory "
                      "in MB\n", lines)]


DRIVER = Compile()
