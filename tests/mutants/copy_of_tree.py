# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree with a build folder of its own, where faults are put in, built and tested."""
import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
BUILD_LIMIT = 1800  # seconds: a build that takes longer hangs
TEST_LIMIT = 30  # seconds: a test that takes longer hangs; without a fault hardly any takes three


class Trouble(Exception):
    """What went wrong, in one line: no verdict about any fault."""


def adopt_orphans():
    """What a faulty program leaves behind becomes ours to kill."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants():
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        parents[int(path.parent.name)] = int(fields[1])
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def kill_descendants():
    """All of them, and what they start meanwhile."""
    while found := descendants():
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def run(command, folder, limit=None, environment=None):
    """(code, output) of a command; the code is None if it took longer than allowed."""
    with subprocess.Popen([str(word) for word in command], cwd=folder, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            code = process.returncode
        except subprocess.TimeoutExpired:
            kill_descendants()
            output, _ = process.communicate()
            code = None
    kill_descendants()
    return code, output


FAILURE = re.compile(r"^ *\d+/\d+ Test +#\d+: (.*?) ?\.+\*\*\*(?!Skipped)", re.MULTILINE)


def run_until_failure(command, folder, limit, silence, environment):
    """The same for ctest, killed as soon as one test fails, or when no test has begun or ended for
    `silence` seconds."""
    end = time.monotonic() + limit
    output = ""
    with subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        while not FAILURE.search(output):
            left = min(silence, end - time.monotonic())
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                kill_descendants()
                return None, output
            some = os.read(process.stdout.fileno(), 1 << 16)
            if not some:
                break
            output += some.decode(errors="replace")
        code = 1 if FAILURE.search(output) else process.wait()
        kill_descendants()
    return code, output


def stripped(path):
    with tempfile.NamedTemporaryFile() as plain:
        subprocess.run(["objcopy", "--strip-debug", path, plain.name], check=True)
        return hashlib.sha256(plain.read()).digest()


class Copy:
    """A clone at `folder` of what git knows of `source`, changes that are not committed included."""

    def __init__(self, source, folder, jobs):
        self.source, self.folder, self.jobs = source, folder, jobs
        self.build_folder = folder / "build"
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")
        self.environment.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros")

    def git(self, *words, folder=None):
        code, output = run(["git", "-c", "user.name=mutate", "-c", "user.email=", *words],
                           folder or self.folder)
        if code != 0:
            raise Trouble(f"git {words[0]}: {output.strip()}")
        return output.strip()

    @contextlib.contextmanager
    def locked(self):
        """Nobody else works in the copy meanwhile."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with open(self.folder.parent / "lock", "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Trouble(f"another one works in {self.folder.parent}; wait for it") from error
            yield

    def renew(self):
        """Brings the copy to the source's state, touching only files that differ."""
        commit = (self.git("stash", "create", folder=self.source) or
                  self.git("rev-parse", "HEAD", folder=self.source))
        if not self.folder.exists():
            self.git("clone", "--quiet", "--shared", "--no-checkout", self.source, self.folder,
                     folder=self.source)
        self.git("checkout", "--quiet", "--force", "--detach", commit)

    def left_out(self):
        return self.git("ls-files", "--others", "--exclude-standard",
                        folder=self.source).splitlines()

    def configure(self):
        limit = f"PROJECT_TEST_TIMEOUT:UNINITIALIZED={TEST_LIMIT}"
        cache = self.build_folder / "CMakeCache.txt"
        if cache.exists() and limit in cache.read_text().splitlines():
            return
        options = ["-G", "Ninja"] if shutil.which("ninja") and not cache.exists() else []
        options += [f"-D{limit}"]
        if shutil.which("ccache"):
            options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
        code, output = run(["cmake", "-S", self.folder, "--preset", "default", *options],
                           self.folder, BUILD_LIMIT, self.environment)
        if code != 0:
            raise Trouble(f"cannot configure {self.folder}: {output[-2000:]}")

    def apply(self, patch):
        """Whether the patch applies, and is applied."""
        done = subprocess.run(["git", "apply", "-"], cwd=self.folder, input=patch, text=True,
                              capture_output=True, check=False)
        return done.returncode == 0

    def restore(self):
        self.git("checkout", "--quiet", "--force", ".")
        self.git("clean", "--quiet", "--force", "-d")

    def objects(self, files):
        """What the files were compiled to, but for debug information; of a header, all of its layer."""
        layers = {path.split("/")[0] + "/" for path in files if path.endswith(".h")}
        commands = json.loads((self.build_folder / "compile_commands.json").read_text())
        found = {}
        for command in commands:
            words = shlex.split(command["command"])
            path = self.build_folder / words[words.index("-o") + 1]
            source = os.path.relpath(command["file"], self.folder)
            if (source in files or source.startswith(tuple(layers))) and path.exists():
                found[str(path)] = stripped(path)
        return found

    def build(self, targets):
        """What the compiler says against it; nothing if it builds."""
        code, output = run(["cmake", "--build", self.build_folder, "--parallel", self.jobs,
                            "--target", *targets], self.folder, BUILD_LIMIT, self.environment)
        return None if code == 0 else output

    def test(self, stage, limit):
        """Runs the tests of a stage up to the first that fails; see Tests."""
        return Tests(*run(self.ctest(stage, "-j2", "--stop-on-failure", "--output-on-failure"), self.folder,
                          limit, self.environment))

    def test_until_failure(self, stage, places, limit, silence):
        """The same for those at these places among them, from 1, each of which takes less than
        `silence` seconds unless it hangs."""
        chosen = ",".join(["0", "0", "0", *map(str, places)])
        return Tests(*run_until_failure(self.ctest(stage, "-j2", "-I", chosen), self.folder, limit,
                                        silence, self.environment))

    def ctest(self, stage, *options):
        return ["ctest", "--test-dir", self.build_folder, "-R", stage, "-LE", "^long$", *options]

    def test_numbers(self, stage):
        _, output = run(self.ctest(stage, "-N"), self.folder, BUILD_LIMIT)
        return [int(number) for number in re.findall(r"^ *Test +#(\d+): ", output, re.MULTILINE)]


class Tests:
    """What ctest says of tests that ran."""

    def __init__(self, code, output):
        self.output = output
        told = re.findall(r"^\t *\d+ - (.*) \(([^()]*)\)$", output, re.MULTILINE)
        self.failed = FAILURE.findall(output) or [name for name, how in told if how != "Skipped"]
        self.skipped = [name for name, how in told if how == "Skipped"]
        self.seconds = {int(number): float(seconds) for number, seconds in re.findall(
            r"^ *\d+/\d+ Test +#(\d+): .* ([\d.]+) sec$", output, re.MULTILINE)}
        self.timed_out = code is None
        if "No tests were found" in output:
            raise Trouble("ctest found no test to run")
        if self.timed_out:
            started = re.findall(r"^ *Start +(\d+): (.*)$", output, re.MULTILINE)
            self.failed = [name for n, name in started if int(n) not in self.seconds] or ["the first test"]
        elif code != 0 and not self.failed:
            self.failed = ["a test program that lists its cases"]
