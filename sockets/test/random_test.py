#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""random_test.py BUILD_FOLDER PROGRAMS [FIRST_SEED]: random programs of calls say the same over plain TCP and over
unetsock, whenever connections are upgraded; and connections are."""
import difflib
import sys

import both

STEPS = 120
READABLE = 1


def events_told(told, ours):
    """Whether ours has the events that TCP told; of edges ("edges:1") it may have more, and after a shutdown ("ended:1")
    TCP tells of unread data once more whenever it is that the peer acknowledges that."""
    if told.startswith("ended:") and ours.startswith("ended:"):
        return (int(told[6:], 16) ^ int(ours[6:], 16)) & ~READABLE == 0
    if not told.startswith("edges:") or not ours.startswith("edges:"):
        return told == ours
    return int(told[6:], 16) & ~int(ours[6:], 16) == 0


def agree(plain, ours):
    plain, ours = plain.split(" "), ours.split(" ")
    return len(plain) == len(ours) and all(map(events_told, plain, ours))


def differences(plain, ours):
    if len(plain) != len(ours):
        return list(difflib.unified_diff(plain, ours, "TCP", "unetsock", lineterm="", n=1))
    return [f"TCP: {a}\nunetsock: {b}" for a, b in zip(plain, ours) if not agree(a, b)]


def main():
    build = both.Build(sys.argv[1])
    count, first = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    moved = 0
    for seed in range(first, first + count):
        command = [build.program("random_calls"), str(seed), str(STEPS)]
        mode = both.MODES[seed % len(both.MODES)]
        plain = build.run(command)
        ours = build.run(command, mode, stats=True)
        moved += both.upgraded(ours.stderr)
        found = differences(plain.stdout.splitlines(), ours.stdout.splitlines())
        if found or ours.returncode != plain.returncode:
            print(f"seed {seed}, UNETSOCK_UPGRADE={mode}, exit {ours.returncode} instead of "
                  f"{plain.returncode}:", *found[:8], ours.stderr, sep="\n")
            return 1
    print(f"{count} programs, {moved} ends of connections upgraded")
    if moved < count:
        print("hardly any connection was upgraded: this test has tested nothing")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
