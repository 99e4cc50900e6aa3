#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exact_test.py BUILD_FOLDER: blocking, signals, forks, deaths, passed descriptors, sets of epoll and the rest look
the same over plain TCP and over unetsock, whenever connections are upgraded."""
import difflib
import sys

import both


def differs(build, program, turns, least=20, words=()):
    """What a program, with some arguments, says otherwise than over plain TCP, or None.  Fewer connections upgraded
    than `least`, if any, say that nothing was tested."""
    command = [build.program(program), *words]
    plain = build.run(command)
    if plain.returncode != 0:
        return f"over plain TCP: exit {plain.returncode}\n{plain.stdout}\n{plain.stderr}"
    for mode in both.MODES * turns:
        ours = build.run(command, mode, stats=True)
        if ours.returncode != 0 or ours.stdout != plain.stdout:
            return "\n".join([f"UNETSOCK_UPGRADE={mode}: exit {ours.returncode}",
                              *difflib.unified_diff(plain.stdout.splitlines(),
                                                    ours.stdout.splitlines(), "TCP", "unetsock",
                                                    lineterm=""), ours.stderr])
        if least is None:
            continue
        if both.upgraded(ours.stderr) < least or " by the rings 0 bytes" in ours.stderr:
            return f"hardly any connection was upgraded: this test has tested nothing\n{ours.stderr}"
    return None


def main():
    build = both.Build(sys.argv[1])
    for program, turns in ("exact_calls", 3), ("matrix_calls", 1), ("order_calls", 2):
        if text := differs(build, program, turns):
            print(f"{program}: {text}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
