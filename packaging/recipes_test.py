#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Dockerfile and Spack's recipe are read as their tools read them, and what they name of the
project is there.  (The tools themselves are not: neither can be expected on a machine.)"""

import pathlib
import re
import subprocess
import sys
import types
import unittest

PACKAGING = pathlib.Path(__file__).resolve().parent
SOURCE = PACKAGING.parent
CMAKE = [file.read_text(encoding="utf-8")
         for file in (SOURCE / "CMakeLists.txt", SOURCE / "cmake/ProjectRules.cmake",
                      *SOURCE.glob("*/CMakeLists.txt"))]
VERSION = re.search(r"project\(split-c VERSION ([\d.]+)", CMAKE[0]).group(1)


def instructions(text):
    """The instructions of a Dockerfile, as pairs of a name and the rest of its logical line."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    logical = re.sub(r"\\\n", " ", "\n".join(lines))
    for line in logical.split("\n"):
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


class Dockerfile(unittest.TestCase):
    KNOWN = {"FROM", "COPY", "RUN", "WORKDIR", "USER", "ENV", "ARG", "CMD", "ENTRYPOINT", "LABEL"}

    def setUp(self):
        self.lines = list(instructions((PACKAGING / "Dockerfile").read_text(encoding="utf-8")))

    def test_stages(self):
        self.assertEqual(self.lines[0][0], "FROM")
        stages = []
        for name, rest in self.lines:
            self.assertIn(name, self.KNOWN)
            if name == "FROM":
                match = re.fullmatch(r"(\S+)(?: AS (\w+))?", rest)
                self.assertIsNotNone(match, rest)
                stages.append(match.group(2))
            elif name == "COPY":
                words = rest.split()
                stage = re.fullmatch(r"--from=(\w+)", words[0])
                if stage:
                    self.assertIn(stage.group(1), stages[:-1])
                    words.pop(0)
                self.assertGreaterEqual(len(words), 2)
                if not stage:
                    for word in words[:-1]:
                        self.assertTrue((SOURCE / word).exists(), word)
                elif len(words) > 2:
                    self.assertTrue(words[-1].endswith("/"), "several files go into a folder")
        self.assertEqual(len(stages), 2)

    def test_commands(self):
        verbs = re.search(r"^    (demo \|.*)\) ;;$", (SOURCE / "dev").read_text(encoding="utf-8"),
                          re.MULTILINE).group(1).split(" | ")
        used = []
        for name, rest in self.lines:
            if name == "RUN":
                subprocess.run(["sh", "-n", "-c", rest], check=True)
                used += re.findall(r"\./dev (\w+)", rest)
        self.assertEqual(used, ["package"])
        self.assertLessEqual(set(used), set(verbs))

    def test_packages(self):
        """Those that it copies are those that the build makes."""
        copied = re.findall(r"/packages/([\w-]+)_\*\.deb", " ".join(rest for _, rest in self.lines))
        made = dict(re.findall(r"^set\(PACKAGE_OF_(\w+) ([\w-]+)\)",
                               (PACKAGING / "packages.cmake").read_text(encoding="utf-8"), re.MULTILINE))
        self.assertEqual(copied, [made["run"], made["dev"]])


class Anything:
    """What Spack hands to a recipe's methods, as far as they use it."""

    def __init__(self, said=()):
        self.calls, self.said = [], said

    def prepend_path(self, *arguments):
        self.calls.append(arguments)

    def satisfies(self, text):
        return text in self.said

    def __getitem__(self, name):
        self.calls.append(("spec", name))
        return types.SimpleNamespace(libs=types.SimpleNamespace(directories=[f"/{name}/lib"]),
                                     prefix=types.SimpleNamespace(lib=f"/{name}/lib"))


class Recipe(unittest.TestCase):
    def setUp(self):
        """Runs the recipe where directives are recorded."""
        self.directives = []
        module = types.ModuleType("spack.package")
        for name in "version", "variant", "depends_on", "license", "maintainers":
            setattr(module, name, lambda *words, _name=name, **more:
                    self.directives.append((_name, words, more)))
        self.commands = []
        module.cmake = lambda *words: self.commands.append(words)
        module.CMakePackage = type("CMakePackage", (), {"build_directory": "/build", "define": staticmethod(
            lambda name, value: f"-D{name}={value}")})
        saved = {name: sys.modules.get(name) for name in ("spack", "spack.package")}
        sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": module})
        try:
            names = {}
            file = PACKAGING / "spack/package.py"
            exec(compile(file.read_text(encoding="utf-8"), file, "exec"), names)  # pylint: disable=exec-used
        finally:
            for name, before in saved.items():
                sys.modules.pop(name)
                if before:
                    sys.modules[name] = before
        self.text = file.read_text(encoding="utf-8")
        self.package = names["SplitC"]()

    def named(self, directive):
        return [words[0] for name, words, _ in self.directives if name == directive]

    def test_version(self):
        self.assertEqual(self.named("version"), [VERSION])
        self.assertIn(f"split-c@{VERSION}", self.text)

    def test_needs_what_the_build_needs(self):
        needed = {name.split("@")[0] for name in self.named("depends_on")}
        modules = set(re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\w+)\)", CMAKE[0]))
        self.assertEqual(modules, {"pmix", "hwloc"})
        self.assertLessEqual(modules | {"mimalloc", "catch2", "pkgconfig", "cmake", "c", "cxx"}, needed)
        minimum = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE[0]).group(1)
        self.assertIn(f"cmake@{minimum}:", self.named("depends_on"))
        catch = re.search(r"find_package\(Catch2 ([\d.]+) REQUIRED\)", "".join(CMAKE)).group(1)
        self.assertIn(f"catch2@{catch}:2", self.named("depends_on"))

    def test_builds_what_there_is(self):
        for target in self.package.build_targets:
            self.assertIn(f"add_custom_target({target} ", "".join(CMAKE))
        for spec in Anything(), Anything(["+ofi"]):
            self.package.spec = spec
            for argument in self.package.cmake_args():
                name = re.fullmatch(r"-D(\w+)=.*", argument).group(1)
                self.assertIn(name, "".join(CMAKE))
        self.package.install(None, None)
        self.assertEqual(self.commands, [("--install", "/build", "--strip")])

    def test_environment(self):
        self.package.spec = Anything(["+ofi"])
        env = Anything()
        self.package.setup_run_environment(env)
        self.assertIn(("LIBRARY_PATH", "/mimalloc/lib"), env.calls)
        named = {name.split("@")[0] for name in self.named("depends_on")}
        self.assertLessEqual({name for _, name in self.package.spec.calls}, named)


if __name__ == "__main__":
    unittest.main()
