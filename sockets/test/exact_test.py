#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exact_test.py BUILD_FOLDER: blocking, signals, forks, deaths and the rest look the same over plain TCP and over
unetsock, whenever connections are upgraded."""
import difflib
import sys

import both


def main():
    build = both.Build(sys.argv[1])
    plain = build.run([build.program("exact_calls")])
    if plain.returncode != 0:
        print(f"over plain TCP: exit {plain.returncode}", plain.stdout, plain.stderr, sep="\n")
        return 1
    for mode in both.MODES * 3:
        ours = build.run([build.program("exact_calls")], mode, stats=True)
        if ours.returncode != 0 or ours.stdout != plain.stdout:
            print(f"UNETSOCK_UPGRADE={mode}: exit {ours.returncode}",
                  *difflib.unified_diff(plain.stdout.splitlines(), ours.stdout.splitlines(), "TCP",
                                        "unetsock", lineterm=""), ours.stderr, sep="\n")
            return 1
        if both.upgraded(ours.stderr) < 20:
            print("hardly any connection was upgraded: this test has tested nothing", ours.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
