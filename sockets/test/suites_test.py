#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""suites_test.py BUILD_FOLDER [all | fetched [WORD...]]: Python's own tests of its network modules have the kernel's result over unetsock,
upgraded at operation 1; with `all` more modules and suites of other programs (fetched.py), upgraded at 1, at 4 and at
random; with `fetched` the latter alone."""
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


def runs(build, module, mode):
    """Whether a module's tests pass, and what they say.  A test that depends on the time may have a
    second chance."""
    for _ in range(2):
        try:
            done = build.run([PYTHON, "-m", "test", *IGNORED, module], mode, seconds=240)
        except subprocess.TimeoutExpired:
            return False, "not done after 240 s"
        if done.returncode == 0:
            return True, ""
    return False, (done.stdout + done.stderr)[-3000:]


def suite_runs(build, suite, folder, mode):
    """The same for a suite of another program."""
    for _ in range(2):
        try:
            done = build.run(suite.command, mode, seconds=suite.seconds, cwd=folder, **suite.options())
        except subprocess.TimeoutExpired:
            return False, f"not done after {suite.seconds} s"
        if suite.passed(done):
            return True, ""
    return False, (done.stdout + done.stderr)[-3000:]


def compare(name, mode, run):
    """Whether what `run` does in a mode is what it does over TCP, if that is successful."""
    fine, text = run(mode)
    if fine or not run(None)[0]:  # fails over TCP as well: no verdict
        print(f"{name}, UNETSOCK_UPGRADE={mode}: {'passed' if fine else 'as over TCP: failed'}", flush=True)
        return True
    print(f"{name}, UNETSOCK_UPGRADE={mode}: failed, and not over TCP\n{text}", flush=True)
    return False


def run_python(build, modules, modes):
    """How many of Python's modules failed."""
    if not has_suite():
        print("left out: there is no libpython3.11-testsuite")
        return 0
    return sum(not compare(module, mode, lambda m, module=module: runs(build, module, m))
               for module in modules for mode in modes)


def run_fetched(build, words=()):
    """How many of the suites of other programs failed; only those in whose names one of the words is, if there are any."""
    failed = 0
    for suite in fetched.SUITES:
        if words and not any(word in suite.name for word in words):
            continue
        try:
            folder = suite.prepare(build)
        except fetched.Unavailable as why:
            print(f"left out: {suite.name}: {why}")
            continue
        failed += sum(not compare(suite.name, mode,
                                  lambda m, suite=suite, folder=folder: suite_runs(build, suite, folder, m))
                      for mode in both.MODES)
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
