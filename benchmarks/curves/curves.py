# SPDX-License-Identifier: BSD-3-Clause
"""Round trips and bandwidth against the size of messages: ours layer by layer, beside peers.

Between two processes of this machine (shm), and between two hosts made of namespaces (udp and eth),
which takes root.  Everybody measures all sizes in turn, several times in one run.
"""
import contextlib
import os

import plot
from bench import estimate, peers, table
from bench.driver import Driver, Effort, names
from bench.hosts import Hosts
from bench.results import MESSAGE_TITLES as NAMES
from bench.results import Samples, in_unit
from bench.runner import Runner

NETWORKS = ("shm", "udp", "eth")
# Whose output has the lines of each, and how these begin: net_bench prints those of two layers.
LINES = {"unet": ("layers", "unet_"), "gam": ("layers", "gam_"), "splitc": ("splitc", ""),
         "splitc_get": ("splitc", "get_"), "tcp": ("tcp", "tcp_"), "udp": ("udp", "udp_"),
         **{name: (name, "") for name in peers.NAMES}}
WORDS = {"read": "read", "write": "write", "get": "get, many per sync",
         "put": "put, many per sync", "store": "signalling store"}
LINEAR = 65536  # bytes up to which a round trip is taken for a line
EACH = 30  # seconds that a program may take


# Turns; milliseconds for each size and turn; seconds for a network.
FULL = Effort(turns=3, millis=30, limit=100,
              sizes=[0, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20])
QUICK = Effort(turns=2, millis=10, limit=40, sizes=[0, 8, 64, 256, 1024, 4096, 65536, 1 << 20])
TINY = Effort(turns=1, millis=1, limit=60, sizes=[0, 8, 1024, 65536])


# ---- who runs what ------------------------------------------------------------------------------


def commands(network, options, hosts):
    """The command of everybody who takes part."""
    millis, build = str(options.effort.millis), options.build
    sizes = [str(size) for size in options.effort.sizes]

    def bench(mode):
        return [f"{build}/bin/net_bench", mode, millis, hosts.interface, *hosts.pids, *sizes]

    splitc = [f"{build}/benchmarks/micro_sizes", millis, *sizes]
    yield "layers", bench(f"our_{network}_sizes")
    if network == "shm":
        yield "splitc", [f"{build}/bin/unetrun", "-n", "2", *splitc]
    else:
        yield "splitc", hosts.split_c(build, network, *splitc)
        yield "tcp", bench("tcp_sizes")
    if network == "udp":
        yield "udp", bench("udp_sizes")
    for peer in options.peers:
        program = f"{build}/benchmarks/peers/{peer.name}"
        if network != "shm":
            yield peer.name, peer.between_hosts(hosts, program, "sizes", millis, *sizes)
        else:
            here = hosts.pids if peer.name == "ucx" else []
            yield peer.name, peer.on_machine(2, program, "sizes", millis, *here, *sizes)


class Network:
    """The samples of a network, in nanoseconds of one message or round trip."""

    def __init__(self, name, sizes):
        self.name = name
        self.sizes = sizes
        self.samples = Samples()

    def run(self, options, hosts):
        """Measure, and return what failed."""
        everybody = list(commands(self.name, options, hosts))
        runner = Runner("curves", options.effort.limit, EACH)
        runner.run(self.samples.step(who, self.name, command)
                   for _ in range(options.effort.turns) for who, command in everybody)
        return runner.failures

    def get(self, who, what, size):
        column, prefix = LINES[who]
        return self.samples.get(column, f"{prefix}{what}_{size}")

    def curve(self, who, what):
        """(size, median) in the order of sizes."""
        column, prefix = LINES[who]
        points = [(size, self.samples.median(column, f"{prefix}{what}_{size}"))
                  for size in self.sizes]
        return [(size, ns) for size, ns in points if ns]

    def rows(self):
        """A row for each size, with everybody in it: half of the round trip, and the bandwidth."""
        for what, title, unit, part in (("round_trip", "latency", "us", 0.5),
                                        ("stream", "bandwidth", "MB/s", 1)):
            for size in self.sizes:
                if not size and what == "stream":
                    continue
                found = {who: estimate.summary([in_unit(part * ns, unit, size) for ns in values])
                         for who in NAMES if (values := self.get(who, what, size))}
                if found:
                    yield {"name": f"{self.name}_{what}_{size}", "network": self.name,
                           "what": title, "title": f"{title} of {table.size(size)}, {self.name}",
                           "size": size, "unit": unit, "figures": found}

    def word_rows(self):
        """Accesses of one word by Split-C."""
        for metric, title in WORDS.items():
            values = self.samples.get("splitc", metric)
            if values:
                yield {"name": f"{self.name}_{metric}", "network": self.name, "what": "access",
                       "title": f"{title}, {self.name}", "unit": "us",
                       "figures": {"splitc": estimate.summary([ns / 1e3 for ns in values])}}

    def fits(self):
        """Tables 1 and 2 of Fast Sockets: round trips as lines, streams as half-power curves."""
        for who in NAMES:
            trips = [(size, ns) for size, ns in self.curve(who, "round_trip") if size <= LINEAR]
            if not self.curve(who, "round_trip"):
                continue
            rates = [(size, size / ns) for size, ns in self.curve(who, "stream")]
            fitted, power = estimate.line(trips), estimate.half_power(rates)
            yield {"network": self.name, "who": who, "least_ns": trips[0][1] if trips else None,
                   "start_ns": fitted and fitted[0], "per_byte_ns": fitted and fitted[1],
                   "most_gb_s": power and power[0], "half_power_bytes": power and power[1]}

    def loggp(self):
        """Of active messages of four words, in nanoseconds; G from streams of stores."""
        trip, gap, send, receive = (self.samples.median("layers", f"am_{name}") for name in
                                    ("round_trip", "one_way", "send_overhead", "receive_overhead"))
        fitted = estimate.line([(size, ns) for size, ns in self.curve("gam", "stream")
                                if size >= 1024])
        if None not in (trip, gap, send, receive, fitted):
            yield {"network": self.name, "round_trip": trip, "L": trip / 2 - send - receive,
                   "o_s": send, "o_r": receive, "g": gap, "G": fitted[1]}


# ---- tables -------------------------------------------------------------------------------------


def osu_table(data, network, what, unit, digits):
    """In the layout of the OSU benchmarks."""
    def cell(figure):
        if not figure:
            return "-"
        return f"{figure['median']:.{digits}f} +- {(figure['high'] - figure['low']) / 2:.{digits}f}"

    rows = [row for row in data["rows"] if (row["network"], row["what"]) == (network, what)]
    who = [name for name in NAMES if any(name in row["figures"] for row in rows)]
    return table.Table(
        f"# {what.capitalize()} over {network} ({unit}), medians; +- is half of the 95 % interval",
        [["# Size", *(NAMES[name] for name in who)]] +
        [[str(row["size"]), *(cell(row["figures"].get(name)) for name in who)] for row in rows])


def fits_table(data):
    yield ["layer", "network", "least round trip, us", "t0, us", "t1, ns a byte", "r_inf, GB/s",
           "n_1/2, bytes"]
    for fit in data["fits"]:
        least, start = (fit[name] and fit[name] / 1e3 for name in ("least_ns", "start_ns"))
        yield [NAMES[fit["who"]], fit["network"], table.number(least), table.number(start),
               table.number(fit["per_byte_ns"]), table.number(fit["most_gb_s"]),
               table.number(fit["half_power_bytes"], "{:.0f}")]


def loggp_table(data):
    yield ["network", "L, ns", "o_s, ns", "o_r, ns", "g, ns", "G, ns a byte", "round trip, ns"]
    for one in data["loggp"]:
        yield [one["network"], *(f"{one[name]:.4g}" for name in
                                 ("L", "o_s", "o_r", "g", "G", "round_trip"))]


def words_table(data):
    found = {(row["network"], row["title"].rpartition(", ")[0]): row["figures"]["splitc"]
             for row in data["rows"] if row["what"] == "access"}
    networks = [name for name in NETWORKS if any(network == name for network, _ in found)]
    yield ["access of one word", *(f"{name}, us" for name in networks)]
    for title in dict.fromkeys(title for _, title in found):
        figures = [found.get((name, title)) for name in networks]
        yield [title, *(f"{figure['median']:.3g} ({figure['low']:.3g} to {figure['high']:.3g})"
                        if figure else "-" for figure in figures)]


FITS_NOTE = ("Least squares: round trips of up to 64 KiB as t0 + t1 * bytes, bandwidth as "
             "r_inf * bytes / (n_1/2 + bytes).")
LOGGP_NOTE = ("Active messages of four words: o_s and o_r are what a message takes the sender and "
              "the receiver where 16 are sent together, g the time between two where there are "
              "always more, L what is left of half a round trip without o_s and o_r; G is from "
              "streams of stores.")
WORDS_NOTE = "Medians with their 95 % intervals."


# ---- the benchmark ------------------------------------------------------------------------------


class Curves(Driver):
    name = "curves"
    summary = "Round trips and bandwidth against the size of messages, layer by layer."
    quick = "fewer sizes, in under two minutes"
    efforts = {"full": FULL, "quick": QUICK, "tiny": TINY}

    def add_options(self, parser):
        parser.add_argument("--backend", type=names("backend", NETWORKS), metavar="LIST", dest="networks",
                            help=f"of {','.join(NETWORKS)} (default: all; without root, not eth)")

    def check_options(self, parser, options):
        is_root = os.geteuid() == 0
        options.networks = options.networks or [name for name in NETWORKS
                                                if is_root or name != "eth"]
        if "eth" in options.networks and not is_root:
            parser.error("eth takes root")

    def measure(self, options):
        networks = [Network(name, options.effort.sizes) for name in options.networks]
        failures = []
        with contextlib.ExitStack() as stack:
            hosts = Hosts()
            for network in networks:
                if network.name != "shm" and not hosts.are_two():
                    hosts = stack.enter_context(Hosts())
                failures += network.run(options, hosts)
        return {"failures": failures,
                "rows": [row for one in networks for row in (*one.rows(), *one.word_rows())],
                "fits": [fit for one in networks for fit in one.fits()],
                "loggp": [data for one in networks for data in one.loggp()]}

    def tables(self, data):
        return [table.Table("LogGP", loggp_table(data), LOGGP_NOTE),
                table.Table("Accesses of one word by Split-C", words_table(data), WORDS_NOTE),
                table.Table("Least squares", fits_table(data), FITS_NOTE)]

    def terminal_tables(self, data):
        networks = [name for name in NETWORKS if any(row["network"] == name
                                                     for row in data["rows"])]
        return [osu_table(data, network, *kind) for network in networks
                for kind in (("latency", "us", 3), ("bandwidth", "MB/s", 2))] + self.tables(data)

    def pictures(self, plt, data):
        return plot.pictures(plt, data, NAMES)


DRIVER = Curves()
