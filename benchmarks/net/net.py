# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two networks: ours over udp, eth and ni, beside sockets and MPIs over TCP.

As root there are two hosts, made of namespaces and joined by a bridge; else all are on lo, which
says less.
"""
import dataclasses
import os
import sys

from bench import peers, table
from bench.distance import PlacedRunner
from bench.driver import Driver, Effort, names
from bench.hosts import Hosts, cores
from bench.results import Row, Samples, at_least, at_least_million, at_most
from bench.runner import Failure
from bench.services import Services


# Turns; milliseconds for each operation and turn; seconds for all, and for a program.
FULL = Effort(turns=5, millis=60, limit=480, each=60,
              sizes=[64, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20])
QUICK = Effort(turns=3, millis=20, limit=170, each=30, sizes=[256, 1024, 4096, 65536, 1 << 20])
TINY = Effort(turns=1, millis=1, limit=100, each=40, sizes=[1024, 65536])
BULK = 65536
PUTS = {16384: 0.8, BULK: 0.65, 262144: 0.8}  # how much of the best peer's time one may take
# Over TCP UCX, and MPICH on it, put in half the time with longer segments than their 8 KiB.
LONG_SEGMENTS = ["env", "UCX_TCP_TX_SEG_SIZE=64K", "UCX_TCP_RX_SEG_SIZE=64K"]
LOSSY_SIZE = BULK
LOSS = "1 % loss"
HEADER = "headers alone authenticated"
BACKENDS = ["udp", "eth", "ni"] if os.geteuid() == 0 else ["udp"]
CAP_BPF = 39


@dataclasses.dataclass
class NiKind:
    """Which cores services of ni are on, and how many there are: clients are on cores 0 and 1."""

    title: str
    suffix: str
    mode: str  # of net_bench: "endpoint", or "alone" for both ends in one process
    cores: list
    aims: dict  # by way; beside eth
    wire: str = "packet"


BLOCKED = [at_most(0.7, "raw")]
SHARED = NiKind("service on its client's core", "_ni_shared", "endpoint", [0, 1],
                {"polled": [], "blocked": BLOCKED})
APART = NiKind("service on a core of its own", "_ni_apart", "endpoint", [2, 3],
               {"polled": [at_most(1.4, "raw")], "blocked": BLOCKED})


def one_service(wire):
    """It is passed half as often as two of their own cores: half of 0.4."""
    return NiKind(f"one service, {wire}", f"_ni_one_{wire}", "alone", [1],
                  {"polled": [at_most(1.2, "raw")]}, wire)


def wires():
    """Those of a service that is passed alone; AF_XDP takes a privilege that containers lack."""
    with open("/proc/self/status", encoding="ascii") as status:
        effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    return ["packet", "xdp"] if effective >> CAP_BPF & 1 else ["packet"]


def every_ni_kind():
    return [one_service(wire) for wire in wires()] + [SHARED, APART]


def ni_kinds():
    return [kind for kind in every_ni_kind() if max(kind.cores) < cores()]


ASKED_FOR = ["ofi"]  # by --backend alone: fabrics, of whatever provider libfabric finds


# ---- who runs what ------------------------------------------------------------------------------


def bench(options, hosts, mode, *sizes):
    return [f"{options.build}/bin/net_bench", mode, str(options.effort.millis), hosts.interface,
            *hosts.pids, *sizes]


def turns(options, hosts, samples, title, suffix, commands, who=()):
    """Everybody in turn: the commands by column, and `who` of the peers with these arguments."""
    for peer in options.peers:
        if peer.name in who:
            commands[peer.name] = peer.between_hosts(
                hosts, f"{options.build}/benchmarks/peers/{peer.name}", *who[peer.name])
    for _ in range(options.effort.turns):
        for column, command in commands.items():
            yield samples.step(column, title, command, suffix)


def plan(options, hosts, samples):
    millis, sizes = str(options.effort.millis), [str(size) for size in options.effort.sizes]

    def run(*mode):
        return bench(options, hosts, *mode)

    messages = {name: ["messages", millis] for name in peers.NAMES}
    if "udp" in options.backends:
        yield from turns(options, hosts, samples, "messages and streams over udp", "_udp",
                         {"ours": run("our_udp", *sizes), "raw": run("udp")}, messages)
        yield from turns(options, hosts, samples, HEADER, "_header",
                         {"ours": run("our_udp_header", str(BULK))})
    if "ofi" in options.backends:
        yield from turns(options, hosts, samples, "messages and streams over ofi", "_ofi",
                         {"ours": run("our_ofi", *sizes)}, messages)
    if "eth" in options.backends:
        yield from turns(options, hosts, samples, "messages and streams over eth", "_eth",
                         {"ours": run("our_eth", *sizes), "raw": run("packets", *sizes)})
    yield from turns(options, hosts, samples, "streams over TCP", "", {"raw": run("tcp", *sizes)},
                     {name: ["stream", millis, *sizes] for name in peers.MPIS})
    if "udp" in options.backends:
        yield from turns(options, hosts, samples, "polls of an endpoint with many peers", "_crowd",
                         {"ours": run("crowd")})
    yield from puts_plan(options, hosts, samples)


def puts_plan(options, hosts, samples):
    """Ours over each backend, the limit and the peers over TCP, all in the same turns."""
    millis, sizes = str(options.effort.millis), [str(size) for size in PUTS]
    commands = {("raw", "TCP", ""): bench(options, hosts, "tcp_puts", *sizes)}
    for backend in networks(options.backends):
        commands["ours", backend, f"_{backend}"] = bench(options, hosts, f"our_{backend}_puts",
                                                         *sizes)
    for peer in options.peers:
        commands[peer.name, "TCP", ""] = LONG_SEGMENTS + peer.between_hosts(
            hosts, f"{options.build}/benchmarks/peers/{peer.name}", "puts", millis, *sizes)
    for _ in range(options.effort.turns):
        for (column, network, suffix), command in commands.items():
            yield samples.step(column, f"puts over {network}", command, suffix)


def lossy_plan(options, hosts, samples):
    size = str(LOSSY_SIZE)
    return turns(options, hosts, samples, LOSS, "_lossy",
                 {"ours": bench(options, hosts, "our_udp_streams", size),
                  "raw": bench(options, hosts, "tcp", size)})


def take_turns_with_services(options, hosts, samples, runner, kind):
    """Round trips over services on those cores and by that wire, and over eth alone.

    Services are there only while they are measured: frames for others come to them, too, and what
    they do then keeps a processor awake that would sleep.
    """
    def step(who, mode, *folder):
        return samples.step(who, f"endpoints over ni, {kind.title}",
                            bench(options, hosts, mode, *folder), kind.suffix)

    for _ in range(options.effort.turns):
        with Services(options.build, hosts, kind.cores, kind.wire) as services:
            runner.run([step("ours", f"ni_{kind.mode}", services.folder)])
        runner.run([step("raw", f"eth_{kind.mode}")])


def measure_ni(options, hosts, samples, runner):
    for kind in ni_kinds():
        try:
            take_turns_with_services(options, hosts, samples, runner, kind)
        except Failure as error:
            runner.failures.append(f"ours, endpoints over ni, {kind.title}: {error}")
    for kind in every_ni_kind():
        if max(kind.cores) >= cores():
            print(f"bench: no endpoints over ni, {kind.title}: that takes "
                  f"{max(kind.cores) + 1} cores, here are {cores()}", file=sys.stderr)


def networks(backends):
    """Those that messages are measured over; of ni it is endpoints."""
    return [name for name in backends if name != "ni"]


# ---- the rows -----------------------------------------------------------------------------------


def all_rows(effort, backends):
    suffix = "_ofi" if backends == ["ofi"] else "_udp"  # of the peers' messages, over TCP
    round_trip = {peer: "am_round_trip" + suffix for peer in peers.NAMES}
    one_way = {peer: "am_one_way" + suffix for peer in peers.NAMES}
    aims = {"udp": [at_most(1.1, "raw"), at_most(0.7, "peer")],
            "eth": [at_most(1.2, "raw"), at_most(0.35, "peer")]}
    for backend in networks(backends):
        yield Row(f"am_round_trip_{backend}", f"AM request and reply, {backend}", "us",
                  aims.get(backend, []), round_trip)
        yield Row(f"reliability_{backend}", f"the same beside {backend}'s endpoint", "us",
                  [at_most(1.05, "raw")] if backend in aims else [],
                  {"ours": f"am_round_trip_{backend}", "raw": f"endpoint_round_trip_{backend}"})
        yield Row(f"am_one_way_{backend}", f"AMs one way, {backend}", "M/s",
                  [at_least_million(4)] if backend in aims else [], one_way)
        for size in effort.sizes:
            limit = () if backend == "eth" else ("raw",)  # that of eth is its own metric
            same = {column: f"stream_{size}" for column in limit + peers.NAMES}
            yield Row(f"stream_{size}_{backend}", f"stream of {table.size(size)}, {backend}",
                      "GB/s", [at_least(0.75, "raw")] if size == BULK and backend == "udp" else [],
                      same, size)
        yield from puts_rows(backend)
    if "ni" in backends:
        yield from ni_rows()
    if "udp" not in backends:
        return
    yield Row("poll_crowd", "poll with 1000 peers, udp; limit: with one", "us", [at_most(1.5, "raw")])
    yield Row(f"stream_{BULK}_header", f"stream of {table.size(BULK)}, udp, {HEADER}", "GB/s",
              [at_least(0.9, "raw")], {"raw": f"stream_{BULK}"}, BULK)
    yield Row(f"stream_{LOSSY_SIZE}_lossy", f"stream of {table.size(LOSSY_SIZE)}, udp, {LOSS}",
              "GB/s", [at_least(1, "raw")], size=LOSSY_SIZE)


def puts_rows(backend):
    """What is put counts when it is complete at the target; the limit and the peers go by TCP."""
    aims = {"udp": {size: [at_most(part, "peer")] for size, part in PUTS.items()},
            "eth": {BULK: [at_most(1, "raw")]}}.get(backend, {})
    for what, wanted in ("put", aims), ("exchange", {}):
        for size in PUTS:
            same = {column: f"{what}_{size}" for column in ("raw",) + peers.NAMES}
            yield Row(f"{what}_{size}_{backend}", f"{what} of {table.size(size)}, {backend}", "us",
                      wanted.get(size, []), same)


def ni_rows():
    """The column raw is eth in the same turns.

    Polling is not judged where services and clients share cores.
    """
    for kind in ni_kinds():
        for way, aims in kind.aims.items():
            yield Row(f"{way}{kind.suffix}", f"endpoint round trip, ni ({way}, {kind.title})", "us",
                      aims)


# ---- what it comes to ---------------------------------------------------------------------------


def half_power(rows, backend):
    """The least size that reaches half of the best bandwidth, between two sizes in proportion."""
    points = sorted((row.size, row.size / row.ns("ours")) for row in rows
                    if row.name.startswith("stream_") and row.name.endswith(backend) and
                    row.ns("ours"))
    if not points:
        return None
    half = max(rate for _, rate in points) / 2
    before = (0, 0.0)
    for size, rate in points:
        if rate >= half:
            return before[0] + (size - before[0]) * (half - before[1]) / (rate - before[1])
        before = size, rate
    return None


def kept_under_loss(rows):
    """The part of the bandwidth that is left, in percent."""
    ns = {row.name: row.ns("ours") for row in rows}
    clean, lossy = ns.get(f"stream_{LOSSY_SIZE}_udp"), ns.get(f"stream_{LOSSY_SIZE}_lossy")
    return 100 * clean / lossy if clean and lossy else None


def summary(rows):
    data = {f"half_power_bytes_{backend}": half_power(rows, backend)
            for backend in BACKENDS + ASKED_FOR}
    data["kept_under_loss_percent"] = kept_under_loss(rows)
    return {name: value for name, value in data.items() if value is not None}


def summary_table(data):
    def verdict(met):
        return "pass" if met else "miss"

    yield ["", "", "aim", ""]
    for backend in "udp", "eth", "ofi":
        value = data.get(f"half_power_bytes_{backend}")
        if value is not None:
            yield [f"half of the best bandwidth, {backend}", f"from {value:.0f} bytes on",
                   "<= 1024", verdict(value <= 1024)]
    kept = data.get("kept_under_loss_percent")
    if kept is not None:
        yield [f"bandwidth that is kept at {LOSS}, {table.size(LOSSY_SIZE)}", f"{kept:.0f} %",
               ">= 60 %", verdict(kept >= 60)]


class Net(Driver):
    name = "net"
    summary = ("Messages between two networks: ours over udp, eth and ni, beside sockets and MPIs "
               "over TCP.")
    quick = "in under three minutes"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}

    def add_options(self, parser):
        parser.add_argument("--backend", dest="backends", metavar="LIST", default=BACKENDS,
                            type=names("backend", BACKENDS + ASKED_FOR),
                            help="what of ours is measured (default: " + ",".join(BACKENDS) +
                                 "); ofi over the provider that UNET_OFI_PROVIDER names, or the "
                                 "best that libfabric finds")

    def measure(self, options):
        samples = Samples()
        with Hosts() as hosts:
            runner = PlacedRunner(self.name, options, samples)
            runner.run(plan(options, hosts, samples))
            if hosts.can_lose_packets() and "udp" in options.backends:
                with hosts.losing_packets():
                    runner.run(lossy_plan(options, hosts, samples))
            if "ni" in options.backends:
                measure_ni(options, hosts, samples, runner)
            rows = [row.collect(samples) for row in all_rows(options.effort, options.backends)]
            return {"failures": runner.failures, "rows": [row.as_json() for row in rows],
                    **summary(rows), "hosts": hosts.are_two(), "cores": f"{runner.note()} {hosts.tcp_note()}".strip()}

    def tables(self, data):
        return [table.measured("Messages between two networks", data)]

    def terminal_tables(self, data):
        return [*self.tables(data), table.Table("In short", summary_table(data))]


DRIVER = Net()
