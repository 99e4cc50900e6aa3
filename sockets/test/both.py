# SPDX-License-Identifier: BSD-3-Clause
"""Run a program over plain TCP and over unetsock."""
import os
import pathlib
import subprocess

MODES = ("1", "4", "random")  # when connections are upgraded; with random some sends leave the ring


class Build:
    """What a build folder has for these tests."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.unetsock = str(self.folder / "bin" / "unetsock")

    def program(self, name):
        return str(self.folder / "test" / f"sockets_{name}")

    def run(self, command, mode=None, stats=False, seconds=60, **options):
        """What becomes of a command: over plain TCP, or upgraded by `mode`; its stdout and stderr."""
        environment = dict(os.environ, **options.pop("environment", {}))
        environment.pop("LD_PRELOAD", None)
        if mode:
            environment["UNETSOCK_UPGRADE"] = mode
            if mode == "random":
                environment["UNETSOCK_DOWNGRADE"] = "8"
            command = [self.unetsock, *(["--stats"] if stats else []), *command]
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds,
                              check=False, **options)


def upgraded(stats):
    """How many connections `unetsock --stats` says were upgraded."""
    for line in stats.splitlines():
        words = line.split()
        if len(words) == 2 and words[1] == "upgraded":
            return int(words[0])
    return 0
