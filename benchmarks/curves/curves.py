#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Round trips and bandwidth against the size of messages: ours layer by layer, beside peers.

Between two processes of this machine (shm), and between two hosts made of namespaces (udp and eth),
which takes root.  Everybody measures all sizes in turn, several times in one run.  How programs are
run and what they print is micro.py's.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import statistics
import sys
import time

sys.dont_write_bytecode = True
SOURCES = pathlib.Path(__file__).resolve().parent.parent
for folder in "micro", "net":
    sys.path.insert(0, str(SOURCES / folder))
import estimate  # pylint: disable=wrong-import-position
import micro  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

NETWORKS = ("shm", "udp", "eth")
PEERS = ("mpich", "openmpi", "ucx")
TITLES = {"unet": "U-Net", "gam": "GAM", "splitc": "Split-C", "splitc_get": "Split-C get",
          "mpich": "MPICH", "openmpi": "Open MPI", "ucx": "UCX", "tcp": "TCP", "udp": "UDP"}
OURS = ("unet", "gam", "splitc", "splitc_get")
WORDS = {"read": "read", "write": "write", "get": "get, many per sync",
         "put": "put, many per sync", "store": "signalling store"}
LINEAR = 65536  # bytes up to which a round trip is taken for a line


@dataclasses.dataclass
class Effort:
    """How much of everything."""

    turns: int
    millis: int  # for each size and turn
    sizes: list
    limit: int  # seconds for a network


FULL = Effort(turns=3, millis=30, limit=100,
              sizes=[0, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20])
QUICK = Effort(turns=2, millis=10, limit=40, sizes=[0, 8, 64, 256, 1024, 4096, 65536, 1 << 20])
TINY = Effort(turns=1, millis=1, limit=60, sizes=[0, 8, 1024, 65536])
EACH = 30  # seconds that a program may take


# ---- who ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Party:
    """A program, and what its lines are: (our layer or a peer, what)."""

    title: str
    command: list
    lines: dict  # metric's beginning: (who, what)


def layers(command):
    return Party("U-Net and GAM", command, {
        "unet_round_trip": ("unet", "round_trip"), "unet_stream": ("unet", "stream"),
        "gam_round_trip": ("gam", "round_trip"), "gam_stream": ("gam", "stream")})


def splitc(command):
    return Party("Split-C", command, {
        "round_trip": ("splitc", "round_trip"), "stream": ("splitc", "stream"),
        "get_stream": ("splitc_get", "stream")})


def peer_party(name, command):
    return Party(TITLES[name], command,
                 {"round_trip": (name, "round_trip"), "stream": (name, "stream")})


def sockets(name, command):
    return Party(TITLES[name], command, {f"{name}_round_trip": (name, "round_trip"),
                                         f"{name}_stream": (name, "stream")})


def parties(network, build, peers, hosts, effort):
    millis, sizes = str(effort.millis), [str(size) for size in effort.sizes]

    def bench(mode):
        return [f"{build}/bin/net_bench", mode, millis, hosts.interface, *hosts.pids, *sizes]

    program = [f"{build}/benchmarks/micro_sizes", millis, *sizes]
    if network == "shm":
        yield layers(bench("our_shm_sizes"))
        yield splitc([f"{build}/bin/unetrun", "-n", "2", *program])
        for peer in peers:
            here = ["0", "0"] if peer.name == "ucx" else []
            yield peer_party(peer.name, peer.command(2, "sizes", millis, *here, *sizes))
        return
    yield layers(bench(f"our_{network}_sizes"))
    yield splitc(hosts.split_c(build, network, *program))
    yield sockets("tcp", bench("tcp_sizes"))
    if network == "udp":
        yield sockets("udp", bench("udp_sizes"))
    for peer in peers:
        yield peer_party(peer.name, net.OverTcp(peer, hosts).command("sizes", millis, *sizes))


# ---- measuring ------------------------------------------------------------------------------


class Measurement:
    """The samples of a network, in nanoseconds of one message or round trip."""

    def __init__(self, network, effort):
        self.network = network
        self.effort = effort
        self.curves = {}  # (who, what, size): samples
        self.others = {}  # metric without a size: samples
        self.failures = []
        self.deadline = time.monotonic() + effort.limit

    def run_all(self, taking_part):
        out = set()
        for turn in range(self.effort.turns):
            for party in taking_part:
                if party.title in out:
                    continue
                self.show(turn, party)
                why = self.run_one(party)
                if why:
                    out.add(party.title)
                    self.failures.append(f"{party.title} over {self.network}: {why}")

    def run_one(self, party):
        """Why not, or None."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            return "no time was left"
        try:
            text, _ = micro.run(party.command, min(EACH, left + 1))
            for (_, metric), ns in micro.parse("", text, ""):
                self.take(party, metric, ns)
        except (OSError, RuntimeError) as error:
            return str(error)
        return None

    def take(self, party, metric, ns):
        name, _, size = metric.rpartition("_")
        if name in party.lines and size.isdigit():
            self.curves.setdefault((*party.lines[name], int(size)), []).append(ns)
        else:
            self.others.setdefault(metric, []).append(ns)

    def show(self, turn, party):
        if sys.stderr.isatty():
            left = max(0, self.deadline - time.monotonic())
            print(f"\r\x1b[K[{turn + 1}/{self.effort.turns}] {self.network}: {party.title}  "
                  f"(at most {left:.0f} s more)", end="", file=sys.stderr, flush=True)

    def ns(self, who, what, size):
        samples = self.curves.get((who, what, size))
        return statistics.median(samples) if samples else None

    def other(self, metric):
        samples = self.others.get(metric)
        return statistics.median(samples) if samples else None

    def who_took_part(self, what):
        return [who for who in TITLES if any(key[:2] == (who, what) for key in self.curves)]


# ---- what it comes to -----------------------------------------------------------------------


def rows_of(measurement):
    """A row for each size, with everybody in it: half of the round trip, and the bandwidth."""
    network = measurement.network
    for what, title, unit in (("round_trip", "latency", "us"), ("stream", "bandwidth", "MB/s")):
        for size in sorted({key[2] for key in measurement.curves if key[1] == what}):
            found = {}
            for who in measurement.who_took_part(what):
                samples = measurement.curves.get((who, what, size))
                if samples and (size > 0 or what == "round_trip"):
                    found[who] = estimate.summary([ns / 2e3 if what == "round_trip"
                                                  else size * 1e3 / ns for ns in samples])
            if found:
                yield {"name": f"{network}_{what}_{size}", "network": network, "what": title,
                       "title": f"{title} of {micro.size_text(size)}, {network}", "size": size,
                       "unit": unit, "figures": found}


def word_rows(measurement):
    """Accesses of one word by Split-C."""
    for metric, title in WORDS.items():
        samples = measurement.others.get(metric)
        if samples:
            yield {"name": f"{measurement.network}_{metric}", "network": measurement.network,
                   "what": "access", "title": f"{title}, {measurement.network}", "unit": "us",
                   "figures": {"splitc": estimate.summary([ns / 1e3 for ns in samples])}}


def curve(measurement, who, what):
    """(size, ns) in order."""
    return [(size, measurement.ns(who, what, size)) for size in measurement.effort.sizes
            if measurement.ns(who, what, size)]


def fits_of(measurement):
    """The table 1 and 2 of Fast Sockets: round trips as lines, streams as half-power curves."""
    for who in measurement.who_took_part("round_trip"):
        trips = [(size, ns) for size, ns in curve(measurement, who, "round_trip")
                 if size <= LINEAR]
        rates = [(size, size / ns) for size, ns in curve(measurement, who, "stream")]
        fitted, power = estimate.line(trips), estimate.half_power(rates)
        yield {"network": measurement.network, "who": who,
               "least_ns": trips[0][1] if trips else None,
               "start_ns": fitted and fitted[0], "per_byte_ns": fitted and fitted[1],
               "most_gb_s": power and power[0], "half_power_bytes": power and power[1]}


def loggp_of(measurement):
    """Of active messages of four words, in nanoseconds; G from the stores' round trips."""
    trip, gap = measurement.other("am_round_trip"), measurement.other("am_one_way")
    send, receive = (measurement.other(f"am_{kind}_overhead") for kind in ("send", "receive"))
    rates = [(size, ns) for size, ns in curve(measurement, "gam", "stream") if size >= 1024]
    fitted = estimate.line(rates)
    if None in (trip, gap, send, receive, fitted):
        return None
    return {"network": measurement.network, "round_trip": trip, "L": trip / 2 - send - receive,
            "o_s": send, "o_r": receive, "g": gap, "G": fitted[1]}


# ---- telling --------------------------------------------------------------------------------


def print_osu(rows, measurement):
    """As the OSU benchmarks do."""
    for what, unit, digits in (("latency", "us", 3), ("bandwidth", "MB/s", 2)):
        chosen = [row for row in rows if row["what"] == what]
        who = [name for name in TITLES if any(name in row["figures"] for row in chosen)]
        print(f"\n# {what.capitalize()} over {measurement.network} ({unit}), "
              f"medians; +- is half of the 95 % interval")
        print(f"{'# Size':10}" + "".join(f" {TITLES[name]:>19}" for name in who))
        for row in chosen:
            print(f"{row['size']:<10}" + "".join(
                f" {osu_cell(row['figures'].get(name), digits):>19}" for name in who))


def osu_cell(told, digits):
    if not told:
        return "-"
    return f"{told['median']:.{digits}f} +- {(told['high'] - told['low']) / 2:.{digits}f}"


def print_words(rows):
    for row in rows:
        told = row["figures"]["splitc"]
        print(f"{row['title']:34} {told['median']:9.4f} us "
              f"({told['low']:.4f} to {told['high']:.4f})")


def number(value, form="{:.3g}"):
    return "-" if value is None else form.format(value)


def print_fits(fits):
    print("\n# Least squares: round trips up to 64 KiB as t0 + t1 * bytes, bandwidth as "
          "r_inf * bytes / (n_1/2 + bytes)")
    print(f"{'':24} {'least us':>9} {'t0 us':>9} {'t1 ns/B':>9} {'r_inf GB/s':>11} "
          f"{'n_1/2 bytes':>12}")
    for fit in fits:
        def micros(name, told=fit):
            return told[name] and told[name] / 1e3
        print(f"{TITLES[fit['who']] + ', ' + fit['network']:24} {number(micros('least_ns')):>9} "
              f"{number(micros('start_ns')):>9} {number(fit['per_byte_ns']):>9} "
              f"{number(fit['most_gb_s']):>11} {number(fit['half_power_bytes'], '{:.0f}'):>12}")


def print_loggp(told):
    print("\n# LogGP of active messages of four words (ns; G: ns per byte of stores)")
    print(f"{'':10}" + "".join(f" {name:>10}" for name in ("L", "o_s", "o_r", "g", "G",
                                                           "round trip")))
    for one in told:
        print(f"{one['network']:10}" + "".join(f" {one[name]:>10.4g}" for name in (
            "L", "o_s", "o_r", "g", "G", "round_trip")))


# ---- all of it ------------------------------------------------------------------------------


def list_of_networks(text):
    names = text.split(",")
    for name in names:
        if name not in NETWORKS:
            raise argparse.ArgumentTypeError(f"no backend '{name}': there are "
                                             f"{', '.join(NETWORKS)}")
    return names


def arguments():
    parser = argparse.ArgumentParser(
        prog="dev bench curves",
        description="Round trips and bandwidth against the size of messages, layer by layer.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, in under two minutes")
    parser.add_argument("--tiny", action="store_true", help="just enough to see that it works")
    parser.add_argument("--backend", type=list_of_networks, metavar="LIST", dest="networks",
                        help=f"of {','.join(NETWORKS)} (default: all; without root, not eth)")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--peers", metavar="LIST",
                        help=f"of {','.join(PEERS)}, or none (default: those installed)")
    micro.add_build(parser)
    options = parser.parse_args()
    options.names = [name for name in micro.peer_names(parser, options.peers) if name in PEERS]
    is_root = os.geteuid() == 0
    options.networks = options.networks or [name for name in NETWORKS if is_root or name != "eth"]
    if "eth" in options.networks and not is_root:
        parser.error("eth takes root")
    return options


def measure(options, effort, peers):
    here = net.Hosts()
    measurements = []
    if "shm" in options.networks:
        one = Measurement("shm", effort)
        one.run_all(list(parties("shm", options.build, peers, here, effort)))
        measurements.append(one)
    networks = [name for name in options.networks if name != "shm"]
    if networks:
        with net.Hosts() as hosts:
            for name in networks:
                one = Measurement(name, effort)
                one.run_all(list(parties(name, options.build, peers, hosts, effort)))
                measurements.append(one)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    return measurements


def report_of(measurements, peers, missing, load):
    return {"when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": micro.machine(), "load_before": load, "load_after": os.getloadavg()[0],
            "peers": {peer.name: peer.version for peer in peers}, "missing": missing,
            "failures": [text for one in measurements for text in one.failures],
            "rows": [row for one in measurements for row in (*rows_of(one), *word_rows(one))],
            "fits": [fit for one in measurements for fit in fits_of(one)],
            "loggp": [told for told in map(loggp_of, measurements) if told]}


def main():
    options = arguments()
    effort = TINY if options.tiny else QUICK if options.quick else FULL
    load = os.getloadavg()[0]
    if load > 0.5 and not options.tiny:
        print(f"curves: the machine is busy (load {load:.1f}): only ratios mean anything",
              file=sys.stderr)
    peers, missing = micro.choose_peers(options)
    measurements = measure(options, effort, peers)
    told = report_of(measurements, peers, missing, load)
    for one in measurements:
        print_osu([row for row in told["rows"] if row["network"] == one.network], one)
    print("\n# One word by Split-C")
    print_words([row for row in told["rows"] if row["what"] == "access"])
    print_fits(told["fits"])
    print_loggp(told["loggp"])
    for text in told["failures"]:
        print("failed:", text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    ours = ("U-Net", "Split-C")
    return 1 if any(text.startswith(ours) for text in told["failures"]) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
