# SPDX-License-Identifier: BSD-3-Clause
"""The suite between two hosts made of namespaces: ours over udp and eth, the twins over TCP."""
import copy
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "net"))
import net  # pylint: disable=wrong-import-position

OURS = ("udp", "eth")
RANKS = 2  # one on each host

Hosts = net.Hosts


def ours(hosts, build, network, program, *arguments, per_host=1):
    return hosts.split_c(build, network, f"{build}/benchmarks/{program}", *arguments,
                         per_host=per_host)


def theirs(hosts, twin, program, *arguments):
    peer = copy.copy(twin.peer)
    peer.program = str(twin.folder / program)
    return net.OverTcp(peer, hosts).command(*arguments)


def commands(hosts, build, peers, program, arguments):
    """(who, command) of everybody."""
    for network in OURS:
        yield network, ours(hosts, build, network, program, *arguments)
    for twin in peers:
        yield twin.name, theirs(hosts, twin, program, *arguments)
