#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""option_texts_test.py FOLDER: what options.awk has made of the programs' tables of options.  Shells on
a terminal complete command lines with it, and groff reads the manuals."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
GATEWAY = ["unet-gateway"] if (FOLDER / "unet-gateway.table").exists() else []  # it takes lwIP
PROGRAMS = ["unetrun", "splitcc", "unetsock", *GATEWAY]
SECONDS = 30


def table(program):
    """The names of each option, and its value."""
    lines = (FOLDER / f"{program}.table").read_text(encoding="utf-8").splitlines()
    return [(words[1].split(), words[2]) for words in (line.split("\t") for line in lines)
            if words[0] == "option"]


class Shell:
    """An interactive shell on a terminal.  ^O has it write the line that was typed, as far as it has
    been completed, to a file."""

    def __init__(self, command, setup):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        for name in "program.sc", "notes.txt":
            (self.path / name).write_text("")
        (self.path / "subfolder").mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder.name, "TERM": "dumb", "LC_ALL": "C"}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(self.folder.name)
            os.execvpe(command[0], command, environment)
        self.said = b""
        for line in *setup, "touch ready":
            os.write(self.terminal, line.encode() + b"\n")
        self.wait_for("ready")

    def wait_for(self, name):
        """Reads what the shell says until it has made that file."""
        deadline = time.monotonic() + SECONDS
        while not (self.path / name).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(self.said.decode(errors="replace"))
            if select.select([self.terminal], [], [], 0.01)[0]:
                self.said += os.read(self.terminal, 4096)
        text = (self.path / name).read_text()
        (self.path / name).unlink()
        return text

    def complete(self, line):
        os.write(self.terminal, line.encode() + b"\t\x0f")
        return self.wait_for("line").rstrip("\n")

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)
        self.folder.cleanup()


# What is typed, and what it becomes, in either shell.
LINES = (
    ("unetrun --report", "unetrun --report-bindings "),
    ("unetrun --backend of", "unetrun --backend ofi "),
    ("unetrun --backend=of", "unetrun --backend=ofi "),
    ("unetrun --bind-to nu", "unetrun --bind-to numa "),
    ("unetrun -n 2 --wdir sub", "unetrun -n 2 --wdir subfolder/"),
    ("unetrun -n 2 --hostfile not", "unetrun -n 2 --hostfile notes.txt "),
    ("unetrun -n 2 tou", "unetrun -n 2 touch "),
    ("unetrun -n 2 cat not", "unetrun -n 2 cat notes.txt "),
    ("unetrun --stage -n 2 cat --stag", "unetrun --stage -n 2 cat --stag"),  # cat's option, not ours
    ("splitcc -fold", "splitcc -fold-programs "),
    ("splitcc -fdiagnostics-format=js", "splitcc -fdiagnostics-format=json "),
    ("splitcc -O2 -x spl", "splitcc -O2 -x splitc "),
    ("splitcc -Wno-local-e", "splitcc -Wno-local-escape "),
    ("splitcc -c prog", "splitcc -c program.sc "),
    ("unetsock --sta", "unetsock --stats "),
    ("unetsock --stats cat not", "unetsock --stats cat notes.txt "),
    *((line, line + rest) for line, rest in (
        ("unet-gateway --pri", "nt-options "),
        ("unet-gateway --backend sh", "m "),
        ("unet-gateway --network 10.9.0.0/24 not", "es.txt "),
    ) if GATEWAY),
)


class Completion(unittest.TestCase):
    def check(self, shell):
        try:
            for typed, completed in LINES:
                self.assertEqual(shell.complete(typed), completed)
        finally:
            shell.close()

    def test_bash(self):
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], [
            "PS1=", *(f"source '{FOLDER}/{program}'" for program in PROGRAMS),
            "bind 'set enable-bracketed-paste off'", "show() { echo \"$READLINE_LINE\" >new; mv new line; READLINE_LINE=; }",
            "bind -x '\"\\C-o\": show'"])
        self.check(shell)

    def test_bash_offers_all(self):
        """All names of all options, and all words of values."""
        script = ('source "$1"; COMP_WORDS=("$2" "${@:3}"); COMP_CWORD=$(($# - 2)); "_$2"; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')

        def offered(program, *words):
            done = subprocess.run([shutil.which("bash"), "-c", script, "bash", FOLDER / program, program, *words],
                                  env={"PATH": "/nowhere"}, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, check=True, timeout=SECONDS)
            return set(done.stdout.split())

        for program in PROGRAMS:
            names = {name for names, _ in table(program) for name in names}
            self.assertGreater(len(names), 4)
            self.assertLessEqual(names, offered(program, "-"))
            for names, value in table(program):
                words = {word for word in value.split("|") if not re.search("[A-Z]", word)} if "|" in value else ()
                for name in names if words else ():
                    equals = ["="] if name.endswith("=") else []
                    self.assertEqual(offered(program, name.rstrip("="), *equals, ""), words, name)
        self.assertIn("--backend", offered("unetrun", "-n", "2", "./a", "-x", ":", "--ba"))
        self.assertEqual(offered("unetrun", "-n", "2", "--", "./a", "--ba"), set())

    @unittest.skipUnless(shutil.which("zsh"), "left out: there is no zsh")
    def test_zsh(self):
        shell = Shell(["zsh", "-f", "-i"], [
            "PS1= RPS1=", f"fpath=('{FOLDER}' $fpath)", "autoload -U compinit && compinit -u -D",
            "show() { print -r -- \"$BUFFER\" >new; mv new line; BUFFER= }", "zle -N show", "bindkey '^O' show",
            "setopt no_auto_menu no_auto_remove_slash no_list_beep"])
        self.check(shell)


class Manual(unittest.TestCase):
    def test_has_each_option(self):
        for program in PROGRAMS:
            text = (FOLDER / f"{program}.1").read_text(encoding="utf-8")
            items = " ".join(re.findall(r"^\.It (.*)$", text, re.MULTILINE)).split()
            named = set()
            for i, word in enumerate(items):
                if word == "Fl" and items[i + 1:i + 2] != ["Fl"]:
                    named.add(("--" if items[i - 1] == "Fl" else "-") + items[i + 1])
            wanted = {name for names, _ in table(program) for name in names}
            self.assertLessEqual(wanted - {"--"}, named)
            self.assertNotRegex(text, r"(?m)^@|`")

    @unittest.skipUnless(shutil.which("groff"), "left out: there is no groff")
    def test_groff_reads_it(self):
        for program in PROGRAMS:
            done = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8", FOLDER / f"{program}.1"], capture_output=True,
                                  text=True, check=True, timeout=SECONDS)
            self.assertEqual(done.stderr, "")
            self.assertIn(program.upper(), done.stdout)


if __name__ == "__main__":
    unittest.main()
