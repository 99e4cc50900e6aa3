#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""editors_test.py SPLITCC: vim, and the rules of the grammar for VS Code, see in a program what splitcc
does, and know all names of the library."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SPLITCC = pathlib.Path(sys.argv.pop(1)).resolve()
EDITORS = pathlib.Path(__file__).resolve().parent

# Each ^ marks what stands above it as what the word behind it says; '-': nothing of Split-C's.
PROGRAM = """\
double *global p, *const spread q;
        ^type            ^type
int global = 1, spread = 2;
    ^-          ^-
static double part[PROCS]::[3];
                   ^constant
                         ^operator
int splitc_main(void) { /* := sync() */ char *s = ":= sync()";
    ^function              ^-  ^-                  ^-  ^-
    on_one x := part[MYPROC]; *p :- 3;
    ^statement
             ^operator       
                     ^constant   
                                 ^operator
    x = y ? 1 : 2; sync(); all_reduce_to_one_dadd(x);
              ^-   ^function
                           ^function
    for_my_1d (i, 10) bulk_get(a, b, 3); syncing();
    ^statement        ^function          ^-
"""
LINES = PROGRAM.splitlines()


def marks():
    """The text without its marks, and of each mark the line and column, from 0, and the kind."""
    text, found = [], []
    for line in LINES:
        if line.strip().startswith("^"):
            found += [(len(text) - 1, match.start(), match.group(1)) for match in re.finditer(r"\^(\S+)", line)]
        else:
            text.append(line)
    return text, found


def library():
    """The names that the header declares for programs."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "all.sc"
        source.write_text("#include <split-c/split-c.h>\n")
        out = subprocess.run([SPLITCC, "-E", source], capture_output=True, text=True, check=True, timeout=30).stdout
    code = " ".join(line for line in out.splitlines() if not line.startswith("#"))
    names = set(re.findall(r'(\w+)\([^;]*?\)\s*__asm__\s*\(\s*"splitc_\w+"', code))
    return names | {"toglobal", "tospread"}


def vim_string(path):
    """In a script for vim, where a path in a command would end at a space."""
    return "'" + str(path).replace("'", "''") + "'"


class Vim(unittest.TestCase):
    KINDS = {"splitcQualifier": "type", "splitcOperator": "operator", "splitcSpread": "operator",
             "splitcConstant": "constant", "splitcStatement": "statement", "splitcFunction": "function"}

    def groups(self, text, places):
        """The syntax groups that vim finds there."""
        with tempfile.TemporaryDirectory() as folder:
            source, result = pathlib.Path(folder) / "a.sc", pathlib.Path(folder) / "groups"
            source.write_text("\n".join(text) + "\n")
            asked = ", ".join(f"[{line + 1}, {column + 1}]" for line, column in places)
            (pathlib.Path(folder) / "ask.vim").write_text(
                f"let &runtimepath = {vim_string(EDITORS / 'vim')} . ',' . &runtimepath\nfiletype on\nsyntax on\n"
                f"execute 'edit' fnameescape({vim_string(source)})\nsyntax sync fromstart\n"
                f"call writefile([&filetype] + map([{asked}], 'synIDattr(synID(v:val[0], v:val[1], 1), \"name\")'), "
                f"{vim_string(result)})\nqall!\n")
            subprocess.run(["vim", "-u", "NONE", "-N", "-es", "-S", f"{folder}/ask.vim"], check=False, timeout=60,
                           stdin=subprocess.DEVNULL, capture_output=True)
            kind, *groups = result.read_text().splitlines()
        self.assertEqual(kind, "splitc")
        return groups

    def setUp(self):
        if not shutil.which("vim"):
            self.skipTest("left out: there is no vim")
        if "+syntax" not in subprocess.run(["vim", "--version"], capture_output=True, text=True, check=True).stdout:
            self.skipTest("left out: this vim is one without +syntax")

    def test_program(self):
        text, found = marks()
        groups = self.groups(text, [(line, column) for line, column, _ in found])
        for (line, column, kind), group in zip(found, groups):
            self.assertEqual(self.KINDS.get(group, "-"), kind, f"'{group}' at column {column} of {text[line]}")

    def test_library(self):
        names = sorted(library())
        self.assertGreater(len(names), 50)
        groups = self.groups([f"{name}(x);" for name in names], [(line, 0) for line in range(len(names))])
        self.assertEqual([name for name, group in zip(names, groups) if group != "splitcFunction"], [])


class VisualStudioCode(unittest.TestCase):
    def setUp(self):
        folder = EDITORS / "vscode"
        self.package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        grammar = self.package["contributes"]["grammars"][0]
        self.grammar = json.loads((folder / grammar["path"]).read_text(encoding="utf-8"))
        json.loads((folder / self.package["contributes"]["languages"][0]["configuration"]).read_text(encoding="utf-8"))
        self.assertEqual(grammar["scopeName"], self.grammar["scopeName"])
        # What they use of regular expressions is the same in Python's dialect and in Oniguruma's.
        self.rules = [(re.compile(rule["match"]), rule)
                      for rule in self.grammar["repository"]["splitc"]["patterns"]]

    def scope(self, line, column):
        """That of the rule for what begins there; strings and comments are the C grammar's."""
        at = 0
        while at <= len(line):
            matches = [(match.start(), index, match) for index, (pattern, _) in enumerate(self.rules)
                       if (match := pattern.search(line, at))]
            if not matches or min(matches)[0] > column:
                return "-"
            _, index, match = min(matches, key=lambda m: m[:2])
            rule = self.rules[index][1]
            for group, what in rule.get("captures", {"0": rule}).items():
                if match.start(int(group)) <= column < match.end(int(group)):
                    return what["name"]
            at = match.end()
        return "-"

    def test_program(self):
        kinds = {"storage.modifier.splitc": "type", "keyword.operator.assignment.splitc": "operator",
                 "keyword.operator.spread.splitc": "operator", "constant.language.splitc": "constant",
                 "keyword.control.splitc": "statement", "support.function.splitc": "function"}
        text, found = marks()
        for line, column, kind in found:
            code = re.sub(r'/\*.*?\*/|"[^"]*"', lambda match: " " * len(match.group()), text[line])
            scope = self.scope(code, column)
            self.assertEqual(kinds.get(scope, "-"), kind, f"'{scope}' at column {column} of {text[line]}")

    def test_library(self):
        self.assertEqual([name for name in sorted(library())
                          if self.scope(f"{name}(x);", 0) != "support.function.splitc"], [])

    def test_version(self):
        version = re.search(r"project\(split-c VERSION ([\d.]+)",
                            (EDITORS.parent.parent / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
        self.assertEqual(self.package["version"], version)


if __name__ == "__main__":
    unittest.main()
