#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cut_test.py BUILD_FOLDER: two hosts, which are network namespaces, of `unetsock --net udp`, whose network is cut in the
middle of their traffic.  The path of the network stays dead, and TCP comes back later: both ends go on by TCP, byte for
byte.  It makes namespaces, as root only."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import both

HOSTS = ("10.213.7.1", "10.213.7.2")
TRIES = 8  # the two ends may miss each other
DEAD = 3  # seconds for which nothing passes: longer than a path may be silent (SOCKETS_LINK_PEER_MS)
SERVER = """
import socket
listener = socket.create_server(("10.213.7.2", 7001))
print("ready", flush=True)
s = listener.accept()[0]
while data := s.recv(100000):
    s.sendall(data)
"""
# Bytes of which each tells where it is in the stream; lengths that the carrier takes, and that TCP does.
CLIENT = """
import random, socket, sys, time
s = socket.create_connection(("10.213.7.2", 7001), 10)
s.settimeout(40)
chance = random.Random(int(sys.argv[1]))
stream = bytes(range(251)) * 40
at = turns = 0
begin = time.monotonic()
after = None
while after is None or turns < after + 300:
    n = chance.choice((1, 8, 100, 1000, 5000))
    data = stream[at:][:n]
    begun = time.monotonic()
    s.sendall(data)
    got = b""
    while len(got) < n:
        piece = s.recv(n - len(got))
        assert piece, (turns, len(got), n)
        got += piece
    assert got == data, (turns, n)
    at = (at + n) % 251
    turns += 1
    if turns == 2000:
        print("cut", flush=True)
    if after is None and turns > 2000 and time.monotonic() - begun > 1:
        after = turns
    assert time.monotonic() - begin < 45, "no cut was seen"
print("ok")
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=20, stderr=subprocess.PIPE, text=True)


def reason_not_to_run():
    """Why there can be no namespaces, as in a container without privileges; or None."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    try:
        with Hosts():
            return None
    except FileNotFoundError:
        return "there is no ip (Debian: iproute2)"
    except subprocess.CalledProcessError as error:
        return f"no network namespaces can be made here: {error.stderr.strip()}"


class Hosts:
    """Two namespaces with a wire between them."""

    def __init__(self):
        self.names = [f"unetsock-cut-{os.getpid()}-{i}" for i in range(2)]

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", "cut0", "netns", self.names[0], "type", "veth", "peer", "name", "cut0", "netns", self.names[1])
        for name, address in zip(self.names, HOSTS):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cut0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "cut0", "up")

    def __exit__(self, *_):
        for name in self.names:
            if os.path.exists(f"/run/netns/{name}"):
                subprocess.run(["ip", "netns", "del", name], check=False, timeout=20)

    def command(self, host, *words):
        return ["ip", "netns", "exec", self.names[host], *words]


def cut_once(build, hosts, environment, seed):
    """What is wrong, or None; and whether something was tested."""
    options = {"env": environment, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(hosts.command(1, build.unetsock, "--net", "udp", "--stats", sys.executable, "-c", SERVER),
                          **options) as server:
        server.stdout.readline()
        with subprocess.Popen(hosts.command(0, build.unetsock, "--net", "udp", "--stats", sys.executable, "-c", CLIENT,
                                            str(seed)), **options) as client:
            said = client.stdout.readline()
            if said == "cut\n":
                ip("-n", hosts.names[0], "link", "set", "cut0", "down")
                time.sleep(DEAD)  # no synchronisation: this is how long the network is away
                ip("-n", hosts.names[0], "link", "set", "cut0", "up")
            try:
                rest, told = client.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                client.kill()
                rest, told = client.communicate()
                told = f"the client hangs\n{told}"
                server.kill()
        try:
            _, servers = server.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            _, servers = server.communicate()
            told += "the server hangs\n"
    if (said, rest, client.returncode, server.returncode) != ("cut\n", "ok\n", 0, 0):
        seen = f"{said!r} {rest!r} {client.returncode} {server.returncode}"
        return f"expected cut, ok, 0, 0; seen {seen}\n{told}{servers}", True
    if int(re.search(r"by the rings (\d+) bytes", told).group(1)) == 0:
        return f"nothing was carried: this test has tested nothing\n{told}", False
    if "the path between the hosts died" not in told:
        return f"the path has not died: this test has tested nothing\n{told}", False
    return None, True


def cut(build, hosts, environment, seed):
    """What is wrong, or None."""
    text, tested = None, False
    for _ in range(TRIES):
        if not tested:
            text, tested = cut_once(build, hosts, environment, seed)
    return text


def main():
    build = both.Build(sys.argv[1])
    if reason := reason_not_to_run():
        print(f"not run: {reason}")
        return 0
    with tempfile.TemporaryDirectory() as folder, Hosts() as hosts:
        key = str(pathlib.Path(folder) / "key")
        environment = dict(os.environ, UNETSOCK_KEY=key, UNETSOCK_UPGRADE="1")
        subprocess.run([build.unetsock, "--make-key"], env=environment, check=True, stdout=subprocess.DEVNULL)
        for seed in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
            if text := cut(build, hosts, dict(environment, UNET_INTERFACE="10.213.7.0/24"), seed):
                print(f"seed {seed}: {text}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
