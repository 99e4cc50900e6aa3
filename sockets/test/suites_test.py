#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""suites_test.py BUILD_FOLDER [all | fetched [WORD...]]: Python's own tests of its network modules have the kernel's result over unetsock,
upgraded at operation 1; with `all` more modules and suites of other programs (fetched.py), upgraded at 1, at 4 and at
random; with `fetched` the latter alone."""
import functools
import re
import subprocess
import sys

import both
import fetched

PYTHON = "/usr/bin/python3"  # the system's: Debian's package libpython3-testsuite belongs to it
FEW = ["test_asyncore", "test_poplib"]
MANY = [*FEW, "test_selectors", "test_ftplib", "test_socket", "test_select", "test_epoll", "test_poll", "test_socketserver",
        "test_smtplib", "test_imaplib", "test_nntplib", "test_telnetlib", "test_httplib",
        "test_urllib2_localnet", "test_httpservers", "test_xmlrpc", "test_ssl", "test_asynchat"]
# Of a network that virtual machines lack, and that hangs over TCP, too.
IGNORED = ["-i", "*VSOCK*"]


def has_suite():
    return subprocess.run([PYTHON, "-c", "import test.test_socket"], capture_output=True,
                          check=False).returncode == 0


def attempt(run, failures, seconds):
    """Which tests fail when `run` runs a suite, and what it says.  A test that depends on the time may have a
    second chance."""
    for _ in range(2):
        try:
            done = run(seconds=seconds)
        except subprocess.TimeoutExpired:
            return {f"all of it in {seconds} s"}, ""
        failed = failures(done)
        if not failed:
            return set(), ""
    return failed, (done.stdout + done.stderr)[-3000:]


def module_failures(done):
    """The names of the tests of one of Python's modules that failed."""
    if done.returncode == 0:
        return set()
    return set(re.findall(r"^(?:FAIL|ERROR): (.*)", done.stdout + done.stderr, re.MULTILINE)) or {"the module itself"}


def compare(name, modes, run):
    """In how many modes tests fail that do not over TCP; `run` is an `attempt` in a mode."""
    over_tcp = None
    worse = 0
    for mode in modes:
        failed, text = run(mode)
        if failed and over_tcp is None:
            over_tcp = run(None)[0]
        what = f"{name}, UNETSOCK_UPGRADE={mode}"
        more = failed - (over_tcp or set())
        if more:
            print(f"{what}: failed, and not over TCP: {', '.join(sorted(more))}\n{text}", flush=True)
            worse += 1
        elif failed:
            print(f"left out: {name}: fails over TCP, too: {', '.join(sorted(failed))}", flush=True)
        else:
            print(f"{what}: passed", flush=True)
    return worse


def run_python(build, modules, modes):
    """In how many modes modules of Python's failed."""
    if not has_suite():
        print("left out: there is no libpython3.11-testsuite")
        return 0
    worse = 0
    for module in modules:
        command = [PYTHON, "-m", "test", *IGNORED, module]
        worse += compare(module, modes, lambda mode, command=command: attempt(
            functools.partial(build.run, command, mode), module_failures, 240))
    return worse


def run_fetched(build, words=()):
    """In how many modes suites of other programs failed; only those in whose names one of the words is, if there are any."""
    failed = 0
    for suite in fetched.SUITES:
        if words and not any(word in suite.name for word in words):
            continue
        try:
            folder = suite.prepare(build)
        except fetched.Unavailable as why:
            print(f"left out: {suite.name}: {why}")
            continue
        failed += compare(suite.name, both.MODES, lambda mode, suite=suite, folder=folder: attempt(
            functools.partial(build.run, suite.command, mode, cwd=folder, **suite.options()),
            suite.failures, suite.seconds))
    return failed


def main():
    build = both.Build(sys.argv[1])
    if sys.argv[2:3] == ["fetched"]:
        return 1 if run_fetched(build, sys.argv[3:]) else 0
    whole = sys.argv[2:] == ["all"]
    if not whole and not has_suite():
        print("not run: there is no libpython3.11-testsuite")
        return 0
    failed = run_python(build, MANY if whole else FEW, both.MODES if whole else ["1"])
    if whole:
        failed += run_fetched(build)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
