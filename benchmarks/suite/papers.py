# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the papers with ours beside them.

Their figures are those in bench/fast_sockets.py, and those that are printed in
  SOSP    von Eicken, Basu, Buch, Vogels: U-Net: A User-Level Network Interface for Parallel and
          Distributed Computing, SOSP 1995
  FE/ATM  Welsh, Basu, von Eicken: ATM and Fast Ethernet Network Interfaces for User-Level
          Communication, HPCA 1997; measured in 1996
"""
from bench import fast_sockets
from bench.results import MESSAGE_TITLES
from bench.table import Table, number

NODES = (2, 4, 8)
NOW = "today"

# FE/ATM, table 1: seconds over ATM and over Fast Ethernet, on 2, 4 and 8 nodes.
TIMES = {
    "mm 128x128": ("matrix multiply 128", ((56.59, 117.00), (33.31, 54.68), (29.04, 48.52))),
    "mm 16x16": ("matrix multiply 16", ((1.26, 1.67), (0.90, 1.04), (0.56, 0.67))),
    "ssortsm512K": ("sample sort, small", ((1.08, 0.63), (1.26, 0.78), (1.69, 1.08))),
    "ssortlg512K": ("sample sort, bulk", ((2.03, 2.06), (2.11, 2.55), (2.93, 3.22))),
    "rsortsm512K": ("radix sort, small", ((48.13, 44.61), (76.64, 63.79), (88.23, 90.50))),
    "rsortlg512K": ("radix sort, bulk", ((4.73, 5.35), (5.01, 6.30), (7.15, 7.54))),
}
# FE/ATM, table 2: speed-up from 2 to 8 nodes.
SPEED_UPS = {"mm 128x128": (1.9, 2.4), "mm 16x16": (2.2, 2.5), "ssortsm512K": (2.5, 2.4),
             "ssortlg512K": (2.9, 2.5), "rsortsm512K": (2.2, 2.0), "rsortlg512K": (2.7, 2.9)}
# SOSP, table 2: message overhead and round trip in us, bandwidth in MB/s.
MACHINES = (("CM-5, 33 MHz Sparc-2", 3, 12, 10), ("Meiko CS-2, 40 MHz SuperSparc", 11, 25, 39),
            ("U-Net ATM, 50/60 MHz SuperSparc", 6, 71, 14))
# SOSP, table 3: round trip in us, bandwidth with 4 KiB packets in Mbit/s; who that is today.
LAYERS = (("Raw AAL5", 65, 120, "unet"), ("Active messages", 71, 118, "gam"),
          ("UDP", 138, 120, "udp"), ("TCP", 157, 115, "tcp"),
          ("Split-C store", 72, 118, "splitc"))
NETWORKS = ("shm", "eth", "udp")


# ---- programs -------------------------------------------------------------------------------


def ours(data, case, ranks):
    return next((row["figures"]["ours"] for row in data["rows"] if row["case"] == case and
                 row["ranks"] == ranks and "ours" in row["figures"]), None)


def seconds(figure):
    return f"{figure['time']:.4f}" if figure else "-"


def times_table(data):
    yield ["benchmark", *(f"{who}, {nodes}" for nodes in NODES for who in ("ATM", "FE", NOW))]
    for name, (case, printed) in TIMES.items():
        yield [name, *(cell for nodes, pair in zip(NODES, printed)
                       for cell in (f"{pair[0]:.2f}", f"{pair[1]:.2f}",
                                    seconds(ours(data, case, nodes))))]


def speed_ups_table(data):
    yield ["benchmark", "ATM", "FE", NOW]
    for name, pair in SPEED_UPS.items():
        few, many = (ours(data, TIMES[name][0], nodes) for nodes in (NODES[0], NODES[-1]))
        yield [name, *map(str, pair), f"{many['rate'] / few['rate']:.1f}" if few and many else "-"]


# ---- messages -------------------------------------------------------------------------------


def median(curves, what, who, network, size):
    return next((row["figures"][who]["median"] for row in curves["rows"]
                 if (row["what"], row["network"], row.get("size")) == (what, network, size) and
                 who in row["figures"]), None)


def best_rate(curves, network):
    rates = [row["figures"]["splitc"]["median"] for row in curves["rows"]
             if row["what"] == "bandwidth" and row["network"] == network and
             "splitc" in row["figures"]]
    return max(rates, default=None)


def machines_table(curves):
    yield ["machine", "message overhead, us", "round trip, us", "bandwidth, MB/s"]
    for name, *printed in MACHINES:
        yield [name, *map(str, printed)]
    for one in curves["loggp"]:
        rate = best_rate(curves, one["network"])
        yield [f"{NOW}, {one['network']}", f"{one['o_s'] / 1e3:.3f}",
               f"{one['round_trip'] / 1e3:.3f}", number(rate, "{:.0f}")]


def layers_table(curves):
    yield ["protocol", "round trip 1995, us", *(f"{NOW}, {name}" for name in NETWORKS),
           "4 KiB 1995, Mbit/s", *(f"{NOW}, {name}" for name in NETWORKS)]
    for name, trip, rate, who in LAYERS:
        halves = [median(curves, "latency", who, network, 8) for network in NETWORKS]
        rates = [median(curves, "bandwidth", who, network, 4096) for network in NETWORKS]
        yield [name, str(trip), *(number(half and 2 * half) for half in halves), str(rate),
               *(number(megabytes and 8 * megabytes, "{:.0f}") for megabytes in rates)]


def half_power_table(curves):
    yield ["layer", "r_inf, MB/s", "n_1/2, bytes"]
    for name, rate, size in fast_sockets.HALF_POWER:
        yield [name, str(rate), str(size)]
    for fit in curves["fits"]:
        if fit["most_gb_s"]:
            yield [f"{NOW}: {MESSAGE_TITLES[fit['who']]}, {fit['network']}", f"{1e3 * fit['most_gb_s']:.0f}",
                   f"{fit['half_power_bytes']:.0f}"]


# ---- all of them ----------------------------------------------------------------------------

FE_ATM = "Welsh, Basu, von Eicken: ATM and Fast Ethernet Network Interfaces, table "
SOSP = "von Eicken, Basu, Buch, Vogels: U-Net (SOSP 1995), table "
NODES_NOTE = ("Theirs: seconds on 2, 4 and 8 SPARCstations over ATM, and Pentiums over Fast Ethernet, "
              "in 1996. Today: on as many ranks of this one machine, which may share cores.")
QUICK_NOTE = " This was a quick run: the sorts and the product of 128x128 blocks are smaller."
MTU_NOTE = " A raw message has to fit into a packet; the sockets are between the two hosts."


def tables(data):
    """Those that this run has figures for."""
    note = NODES_NOTE + (QUICK_NOTE if data["quick"] else "")
    yield Table(FE_ATM + "1: execution times, s", times_table(data), note)
    if 8 in {row["ranks"] for row in data["rows"]}:
        yield Table(FE_ATM + "2: speed-up from 2 to 8 nodes", speed_ups_table(data), note)
    curves = data.get("curves")
    if curves:
        yield Table(SOSP + "2: machines", machines_table(curves),
                    "Bandwidth: Split-C stores at their best.")
        yield Table(SOSP + "3: round trip and bandwidth", layers_table(curves),
                    "Messages of 8 bytes, and of 4 KiB." + MTU_NOTE)
        yield Table(fast_sockets.PAPER + "table 2: half-power point", half_power_table(curves), "Least squares.")
