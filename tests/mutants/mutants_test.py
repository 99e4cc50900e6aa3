#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether every hand-made fault still applies, and whether ./dev mutate tells the truth.

Needs no build: what is built is a project of one function and one test.
"""
import contextlib
import functools
import fcntl
import io
import pathlib
import subprocess
import tempfile
import types
import unittest
from unittest import mock

import copy_of_tree
import fault as faults
import generate
import mutate

CMAKE = """cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES C)
set(CMAKE_C_FLAGS -O2)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
add_executable(small small.c)
add_test(NAME "other: first" COMMAND true)
add_test(NAME "small: sleeps" COMMAND sh -c "exec sleep 0.5")
add_test(NAME "small: adds" COMMAND small)
"""
PRESETS = '{"version": 3, "configurePresets": [{"name": "default", "binaryDir": "${sourceDir}/build"}]}'
SMALL = """#include <stdio.h>

/* a == b */
__attribute__((noipa)) static int sum(int a, int b)
{
    return a + b;
}

int main(void)
{
    int unused = 0;
    unused = 1; /* + 1 */
    printf("+ %d\\n", sum(1, 0));
    return sum(1, 2) == 3 ? 0 : 1;
}
"""
HEADER = "It adds up wrongly.\nBuild: small\nTests: ^small:\n\n"


def changed(old, new):
    text = SMALL.replace(old, new)
    begin = next(n for n, (a, b) in enumerate(zip(SMALL, text)) if a != b)
    line = SMALL.count("\n", 0, begin)
    column = begin - SMALL.rfind("\n", 0, begin) - 1
    lines = SMALL.split("\n"), text.split("\n")
    assert len(lines[0]) == len(lines[1])
    return generate.patch_of("small.c", SMALL,
                             generate.Change(line, column, len(lines[0][line]),
                                             lines[1][line][column:] or ";", ""))


in_clone = unittest.skipUnless((mutate.SOURCE / ".git").exists(), "not run: this is no clone")


class HandMade(unittest.TestCase):
    @in_clone
    def test_every_patch_applies(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = mutate.check_all()
        self.assertEqual((code, out.getvalue()), (0, ""))

    def test_there_are_some_of_each_layer(self):
        layers = {fault.name.partition("/")[0] for fault in faults.all_faults()}
        self.assertLessEqual({"runtime", "compiler", "launcher"}, layers)

    def test_none_lies_where_it_is_not_looked_for(self):
        lost = [str(path) for path in faults.FOLDER.rglob("*.patch") if path.parent.parent != faults.FOLDER]
        self.assertEqual(lost, [])

    def test_no_two_are_the_same(self):
        patches = [fault.patch for fault in faults.all_faults()]
        self.assertEqual(len(patches), len(set(patches)))


class Explained(unittest.TestCase):
    def test_every_reason_is_for_one_fault_that_there_can_be(self):
        changes = functools.cache(lambda file: list(generate.changes((mutate.SOURCE / file).read_text())))
        for file, above, old, new in faults.explained():
            text = (mutate.SOURCE / file).read_text()
            lines = [line.strip() for line in text.split("\n")]
            places = [c.line for c in changes(file) if lines[c.line] == old and
                      generate.faulty_line(old, self.moved(c, text)) == new and
                      above in (None, next(filter(None, reversed(lines[:c.line]))))]
            self.assertEqual(len(places), 1, f"{file}: '{old}' made '{new}': " + (
                "say the line above it, too" if places else "is it gone, or the reason, too?"))

    @staticmethod
    def moved(change, text):
        """The same change of the line without its indentation."""
        line = text.split("\n")[change.line]
        indent = len(line) - len(line.lstrip())
        return generate.Change(change.line, change.begin - indent, change.end - indent, change.new, "")

    def test_a_reason_needs_a_fault_and_words(self):
        text = "# why\n\na.c\n-    a + b;\n+    a - b;\nIt makes\nno difference.\n"
        self.assertEqual(faults.parse_explained(text), {("a.c", None, "a + b;", "a - b;"): "It makes no difference."})
        self.assertEqual(faults.parse_explained(text.replace("a.c", "a.c\n {")),
                         {("a.c", "{", "a + b;", "a - b;"): "It makes no difference."})
        for bad in ("a.c\n- a + b\n+ a - b\n", "a.c\nIt makes no difference.\n", text + "\n" + text):
            with self.assertRaises(faults.Malformed):
                faults.parse_explained(bad)


class Headers(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "launcher" / "x.patch"
            path.parent.mkdir()
            path.write_text(text)
            return faults.read(path)

    def test_stages_are_in_order_and_the_sentence_is_joined(self):
        fault = self.read("It lets\nanyone in.\nBuild: a b\nTests: ^one:\nTests: ^two:\n" +
                          changed("a + b", "a - b"))
        self.assertEqual(fault.sentence, "It lets anyone in.")
        self.assertEqual(fault.suite, faults.Suite(["a", "b"], ["^one:", "^two:"]))
        self.assertEqual(fault.files(), ["small.c"])

    def test_the_layer_says_what_the_fault_does_not(self):
        fault = self.read("It adds up wrongly.\n" + changed("a + b", "a - b"))
        self.assertEqual(fault.suite, faults.suite_of("launcher"))

    def test_what_makes_no_sense_is_refused(self):
        for text, says in ((HEADER, "holds no diff"), ("\n" + changed("a + b", "a"), "lacks a sentence"),
                           (HEADER + "Tests: (\n" + changed("a + b", "a"), "no regular expression"),
                           (HEADER + "Tests: ^a_test: one\n" + changed("a + b", "a"), "a blank")):
            with self.assertRaisesRegex(faults.Malformed, says):
                self.read(text)


class Generated(unittest.TestCase):
    def test_neither_comments_nor_strings_nor_declarations_are_touched(self):
        lines = SMALL.split("\n")
        seen = {(lines[c.line].strip(), c.what) for c in generate.changes(SMALL)}
        self.assertEqual(seen, {
            ("return a + b;", "+ made -"), ("int unused = 0;", "0 made 1"),
            ("unused = 1; /* + 1 */", "1 made 2"), ("unused = 1; /* + 1 */", "the statement deleted"),
            ('printf("+ %d\\n", sum(1, 0));', "1 made 2"),
            ('printf("+ %d\\n", sum(1, 0));', "0 made 1"),
            ('printf("+ %d\\n", sum(1, 0));', "the statement deleted"),
            ("return sum(1, 2) == 3 ? 0 : 1;", "== made !="),
            ("return sum(1, 2) == 3 ? 0 : 1;", "0 made 1"),
            ("return sum(1, 2) == 3 ? 0 : 1;", "1 made 2"),
            ("return sum(1, 2) == 3 ? 0 : 1;", "2 made 3"),
            ("return sum(1, 2) == 3 ? 0 : 1;", "3 made 4")})

    def test_conditions_are_negated_and_their_statements_kept(self):
        text = "void f(int a)\n{\n    if (a > 1)\n        g(a);\n}\n"
        patches = [generate.patch_of("f.c", text, c) for c in generate.changes(text)]
        self.assertTrue(any("\n+    if (!(a > 1))\n" in patch for patch in patches), patches)
        self.assertTrue(any("\n+        ;\n" in patch for patch in patches), patches)

    def test_a_fault_knows_its_line_however_the_diff_shows_it(self):
        text = "void f(int a)\n{\n    a++;\n    while (a)\n        ;\n    ;\n    a--;\n    ;\n}\n"
        lines = {faults.Fault("", "", None, generate.patch_of("f.c", text, c)).line()
                 for c in generate.changes(text)}
        self.assertEqual(lines, {("f.c", "{", "a++;", "a--;"), ("f.c", "{", "a++;", ";"),
                                 ("f.c", ";", "a--;", "a++;"), ("f.c", ";", "a--;", ";"),
                                 ("f.c", "a++;", "while (a)", "while (!(a))")})

    @in_clone
    def test_the_same_seed_chooses_the_same_faults_of_the_project(self):
        options = types.SimpleNamespace(files=["launcher/common/link.cc"], without=[], changed=None, count=5, seed=7)
        names = [f.name for f in generate.chosen(mutate.SOURCE, options)]
        self.assertEqual(len(names), 5)
        self.assertEqual(names, [f.name for f in generate.chosen(mutate.SOURCE, options)])
        options.seed = 8
        self.assertNotEqual(names, [f.name for f in generate.chosen(mutate.SOURCE, options)])


class SmallProject(unittest.TestCase):
    """./dev mutate, on a project that builds in no time."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name) / "source"
        (self.source / "mutants" / "small").mkdir(parents=True)
        for name, text in (("CMakeLists.txt", CMAKE), ("CMakePresets.json", PRESETS),
                           ("small.c", SMALL), (".gitignore", "/build*/\n")):
            (self.source / name).write_text(text)
        for words in (["init", "-q"], ["add", "."],
                      ["-c", "user.name=t", "-c", "user.email=", "commit", "-qm", "small"]):
            subprocess.run(["git", *words], cwd=self.source, check=True)

    def fault(self, name, patch, header=HEADER):
        path = self.source / "mutants" / "small" / f"{name}.patch"
        path.write_text(header + patch)

    def mutate(self, *words):
        """(exit code or complaint, what is printed)."""
        out = io.StringIO()
        with mock.patch.object(mutate, "SOURCE", self.source), \
                mock.patch.object(faults, "FOLDER", self.source / "mutants"), \
                contextlib.redirect_stdout(out):
            try:
                code = mutate.main(list(words))
            except copy_of_tree.Trouble as trouble:
                code = str(trouble)
        return code, out.getvalue()

    def test_faults_are_caught_or_not_and_the_source_is_left_alone(self):
        self.fault("wrong", changed("a + b", "a - b"))
        code, out = self.mutate()
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"small/wrong +caught .* small: adds\n")
        self.assertIn("1 of 1 faults caught", out)
        self.fault("unseen", changed("sum(1, 0)", "sum(7, 0)"))
        code, out = self.mutate()
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"small/unseen +survived ")
        self.assertRegex(out, r"small/wrong +caught ")
        self.assertIn("1 of 2 faults caught", out)
        self.assertEqual((self.source / "small.c").read_text(), SMALL)

    def test_changes_that_are_not_committed_count(self):
        self.fault("wrong", changed("a + b", "a - b"))
        (self.source / "small.c").write_text(SMALL.replace("== 3 ?", "!= 4 ?"))
        code, out = self.mutate()
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"small/wrong +survived ")

    def test_what_cannot_be_judged_is_an_error(self):
        self.fault("stale", changed("a + b", "a - b").replace("return", "restore"))
        self.fault("broken", changed("a + b", "a + c"))
        self.fault("idle", changed("a + b", "(a) + b"))
        code, out = self.mutate()
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"small/stale +does not apply ")
        self.assertRegex(out, r"small/broken +does not build .*error")
        self.assertRegex(out, r"small/idle +equivalent ")
        self.assertIn("0 of 0 faults caught", out)

    def test_a_fault_that_hangs_is_caught_in_time(self):
        self.fault("endless", changed("unused = 1;", "for (;;) {}"))
        code, out = self.mutate("--seconds", "2")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"small/endless +caught .* small: adds \(hangs\)")

    def test_tests_that_fail_anyway_judge_nothing(self):
        self.fault("wrong", changed("a + b", "a - b"))
        (self.source / "small.c").write_text(SMALL.replace("== 3 ?", "== 4 ?"))
        code, _ = self.mutate()
        self.assertIn("without any fault, too, this fails: small: adds", code)

    def test_tests_that_take_long_anyway_judge_nothing(self):
        self.fault("wrong", changed("a + b", "a - b"))
        (self.source / "small.c").write_text(SMALL.replace("unused = 1;", "for (;;) {}"))
        code, _ = self.mutate("--seconds", "1")
        self.assertIn("--seconds has to be twice that", code)

    def test_tests_that_are_not_there_judge_nothing(self):
        self.fault("wrong", changed("a + b", "a - b"), HEADER.replace("^small:", "^large:"))
        code, _ = self.mutate()
        self.assertIn("no test is called '^large:'", code)

    def test_two_at_once_are_refused(self):
        self.fault("wrong", changed("a + b", "a - b"))
        (self.source / "build-mutate").mkdir()
        with open(self.source / "build-mutate" / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another one works in", self.mutate()[0])

    def test_names_and_files_choose(self):
        self.fault("wrong", changed("a + b", "a - b"))
        self.assertIn("there is no fault 'right'", self.mutate("right")[0])
        self.assertIn("no fault is in such files", self.mutate("--files", "*.cc")[0])

    def test_faults_of_changed_lines_alone(self):
        (self.source / "small.c").write_text(SMALL.replace("a + b", "b + a"))
        options = types.SimpleNamespace(files=["*"], without=[], changed="HEAD", count=100, seed=1)
        with mock.patch.object(faults, "suite_of", lambda layer: faults.parse_header(HEADER)[1]):
            names = [f.name for f in generate.chosen(self.source, options)]
        self.assertEqual(names, ["small.c:6:14"])

    def test_generated_faults_that_change_no_code_do_not_count(self):
        (self.source / "mutants" / "suite").write_text(HEADER)
        with mock.patch.object(faults, "suite_of", lambda layer: faults.parse_header(HEADER)[1]):
            code, out = self.mutate("--generate", "--count", "100")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"small.c:6:14 +caught .* small: adds\n")
        self.assertRegex(out, r"small.c:13:26 +survived ")
        self.assertRegex(out, r"small.c:12:14 +equivalent ")
        self.survivors_run_again(out)

    def survivors_run_again(self, before):
        """With a test more, which catches some, and a reason for the others."""
        survived = before.count(": survived ")
        with open(self.source / "CMakeLists.txt", "a", encoding="ascii") as text:
            text.write("""add_test(NAME "small: prints" COMMAND sh -c "test \\"$(./small)\\" = '+ 1'")\n""")
        code, out = self.mutate("--again")
        caught = out.count(": caught ")
        self.assertEqual((code, out.count(": survived ")), (1, survived - caught), out)
        self.assertGreater(caught, 0)
        self.assertGreater(survived, caught)
        reasons = {fault.line(): "It is idle." for fault in
                   faults.saved_faults(self.source / "build-mutate" / "survivors")}
        with mock.patch.object(faults, "explained", lambda: reasons):
            code, out = self.mutate("--again")
        self.assertEqual(code, 0, out)
        self.assertIn(f"0 of {survived - caught} faults caught, {survived - caught} explained", out)
        self.assertIn("no fault has survived", self.mutate("--again")[0])


if __name__ == "__main__":
    unittest.main()
