#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""suites_test.py BUILD_FOLDER [all]: Python's own tests of its network modules have the kernel's result over unetsock,
upgraded at operation 1; with `all` more modules, upgraded at 1, at 4 and at random."""
import subprocess
import sys

import both

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


def main():
    build = both.Build(sys.argv[1])
    whole = sys.argv[2:] == ["all"]
    if not has_suite():
        print("not run: there is no libpython3.11-testsuite")
        return 0
    failed = 0
    for module in MANY if whole else FEW:
        for mode in both.MODES if whole else ["1"]:
            fine, text = runs(build, module, mode)
            if fine or not runs(build, module, None)[0]: # fails over TCP as well: no verdict
                print(f"{module}, UNETSOCK_UPGRADE={mode}: {'' if fine else 'as over TCP: '}"
                      f"{'passed' if fine else 'failed'}", flush=True)
                continue
            print(f"{module}, UNETSOCK_UPGRADE={mode}: failed, and not over TCP\n{text}", flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
