# SPDX-License-Identifier: BSD-3-Clause
"""A unetni on one or each of two hosts, on the cores that a measurement wants."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from bench import runner

PATIENCE = 10  # seconds for a service to listen


class Services:
    """A context in which a service runs on each host that a core is named for.

    `folder` has its socket, named 0 or 1.
    """

    def __init__(self, build, hosts, cores, wire="packet"):
        self.build = build
        self.hosts = hosts
        self.cores = cores
        self.wire = wire
        self.folder = None
        self.processes = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="bench-unetni-")
        try:
            for side, core in enumerate(self.cores):
                self.start(side, core)
            for side in range(len(self.cores)):
                self.await_socket(side)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.communicate(timeout=PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, side, core):
        def bind():
            os.sched_setaffinity(0, {core})

        command = ["nsenter", "-t", self.hosts.pids[side], "-n", "--", f"{self.build}/bin/unetni",
                   "--interface", self.hosts.interface, "--wire", self.wire, "--socket", f"{self.folder}/{side}"]
        self.processes.append(subprocess.Popen(  # pylint: disable=consider-using-with
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=bind))  # pylint: disable=subprocess-popen-preexec-fn

    def await_socket(self, side):
        deadline = time.monotonic() + PATIENCE
        while not pathlib.Path(self.folder, str(side)).exists():
            if self.processes[side].poll() is not None:
                raise runner.Failure("unetni: " +
                                     runner.first_line(self.processes[side].stderr.read()))
            if time.monotonic() > deadline:
                raise runner.Failure(f"unetni: no socket after {PATIENCE} s")
            time.sleep(0.01)
