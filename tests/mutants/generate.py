# SPDX-License-Identifier: BSD-3-Clause
"""Faults made from the source: an operator, a constant, a condition or a statement changed.

Only what lies in function bodies is touched, and neither comments, strings, preprocessor lines
nor declarations.  The layout is what .clang-format makes of it: a function's braces stand alone
in the first column, and binary operators between blanks, which tells them from templates' brackets.
"""
import dataclasses
import difflib
import fnmatch
import pathlib
import random
import re
import subprocess

import fault as faults

OPERATORS = {"==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="],
             ">=": [">", "<"], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"],
             "/": ["*"], "%": ["*"], "&": ["|"], "|": ["&"], "+=": ["-="], "-=": ["+="],
             "|=": ["&="], "&=": ["|="]}
OPERATOR = re.compile(r"(?<= )(?:%s)(?= |$)" % "|".join(
    re.escape(operator) for operator in sorted(OPERATORS, key=len, reverse=True)))
CONSTANT = re.compile(r"(?<![\w.'])(\d+)(?=[uUlL]*\b(?![.\w']))")
STEP = re.compile(r"\+\+|--")
CONDITION = re.compile(r"\b(?:if|while) \((.*)\)(?: \{)?$")
STATEMENT = re.compile(r"\s+([^{}]*);$")
DECLARATION = re.compile(r"\s*(?!(?:return|delete|throw|goto|else|case)\b)"
                         r"(?:(?:const|static|extern|struct|enum|union|unsigned|signed|typedef|"
                         r"using|constexpr|thread_local|register|volatile|auto)\b|"
                         r"[\w:]+(?:<.*>)?(?: [*&]*|[*&]+ ?)(?:const )?[*&]*[A-Za-z_]\w*"
                         r"(?:\[.*\])* *(?:[=;,{]|\())")
LITERAL_OR_COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def blanked(text):
    """The text, everything of it that is no code made blanks of the same length."""
    def blank(found):
        return re.sub(r"[^\n]", "\0", found[0])
    return PREPROCESSOR.sub(blank, LITERAL_OR_COMMENT.sub(blank, text))


def bodies(code):
    """The numbers, from 0, of the lines in function bodies."""
    inside = False
    for number, line in enumerate(code):
        if line == "{":
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside:
            yield number


@dataclasses.dataclass
class Change:
    line: int  # from 0
    begin: int
    end: int
    new: str
    what: str


def balanced(text):
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0


def changes_of_parts(number, line):
    for found in OPERATOR.finditer(line):
        if "\0" in (line[found.start() - 2:found.start() - 1], line[found.end() + 1:found.end() + 2]):
            continue  # joins strings
        for new in OPERATORS[found[0]]:
            yield Change(number, *found.span(), new, f"{found[0]} made {new}")
    for found in STEP.finditer(line):
        new = "--" if found[0] == "++" else "++"
        yield Change(number, *found.span(), new, f"{found[0]} made {new}")
    for found in CONSTANT.finditer(line):
        octal = found[0].startswith("0") and len(found[0]) > 1
        new = f"0{int(found[0], 8) + 1:o}" if octal else str(int(found[0]) + 1)
        yield Change(number, *found.span(), new, f"{found[0]} made {new}")
    found = CONDITION.search(line)
    if found and balanced(found[1]) and ";" not in found[1]:
        yield Change(number, found.start(1), found.end(1), "!(%s)", "the condition negated")


def starts_statement(code, number):
    """Whether what comes before a line has ended, so that the line is a statement of its own."""
    lines = (code[n].rstrip("\0 ") for n in range(number - 1, -1, -1))
    before = next(filter(None, lines), "")
    return before.endswith((";", "{", "}", ":", ")")) or before.endswith("else")


def changes(text):
    """All that can be changed in a source text."""
    code = blanked(text).split("\n")
    for number in bodies(code):
        line = code[number].rstrip("\0 ")
        if DECLARATION.match(line):
            # What initialises a variable is code; the variable has to stay.
            begin = line.find("=")
            if begin >= 0:
                yield from (c for c in changes_of_parts(number, line) if c.begin > begin)
            continue
        yield from changes_of_parts(number, line)
        found = STATEMENT.fullmatch(line)
        if found and found[1] and starts_statement(code, number) and balanced(found[1]) and \
                not re.match(r"return\b|case\b|default\b", found[1]):
            yield Change(number, *found.span(1), "", "the statement deleted")


def faulty_line(line, change):
    if change.new == "":  # so that an `if` before it keeps a statement
        return line[:change.begin] + ";"
    return line[:change.begin] + change.new.replace("%s", line[change.begin:change.end]) + line[change.end:]


def patch_of(path, text, change):
    lines = text.split("\n")
    lines[change.line] = faulty_line(lines[change.line], change)
    diff = difflib.unified_diff(text.splitlines(True), "\n".join(lines).splitlines(True),
                                f"a/{path}", f"b/{path}")
    return f"diff --git a/{path} b/{path}\n" + "".join(diff)


def changed_lines(source, base, path):
    """The numbers, from 0, of the lines of a file that differ from those of the commit."""
    diff = subprocess.run(["git", "diff", "-U0", base, "--", path], cwd=source, text=True,
                          capture_output=True, check=True).stdout
    found = set()
    for begin, count in re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", diff, re.MULTILINE):
        found |= set(range(int(begin) - 1, int(begin) - 1 + int(count or 1)))
    return found


def concerned(path, options):
    """Whether the globs of the command line choose a path."""
    return any(fnmatch.fnmatch(path, glob) for glob in options.files) and \
        not any(fnmatch.fnmatch(path, glob) for glob in options.without)


def source_files(source, options):
    """Those that may be changed: of layers that have a suite, and no tests."""
    words = ["git", "ls-files", "*.c", "*.cc", "*.h"]
    if options.changed:
        words = ["git", "diff", "--name-only", "--diff-filter=d", options.changed, "--", *words[2:]]
    done = subprocess.run(words, cwd=source, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise faults.Malformed(done.stderr.strip())
    for path in done.stdout.splitlines():
        parts = pathlib.PurePath(path)
        if faults.suite_of(parts.parts[0]).stages and concerned(path, options) and \
                not re.search(r"_test\.|/(tests?|check|fuzz|bench|conformance)/|test_|/world\.", path):
            yield path


def faults_of(source, options):
    """Every fault of the chosen files."""
    for path in source_files(source, options):
        text = (source / path).read_text()
        lines = changed_lines(source, options.changed, path) if options.changed else None
        for change in changes(text):
            if lines is None or change.line in lines:
                yield faults.Fault(f"{path}:{change.line + 1}:{change.begin + 1}", change.what,
                                   faults.suite_of(path), patch_of(path, text, change), True)


def chosen(source, options):
    """As many as asked for, at random, but the same ones for the same seed."""
    every = list(faults_of(source, options))
    random.Random(options.seed).shuffle(every)
    return sorted(every[:options.count], key=lambda fault: fault.name)
