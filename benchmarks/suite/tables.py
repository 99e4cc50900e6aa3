# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the suite's results."""
import papers
from bench import peers, table
from bench.table import Table

NAMES = {"ours": "Split-C", "udp": "Split-C over udp", "eth": "Split-C over eth", **peers.TITLES}


def who_took_part(rows):
    return [who for who in NAMES if any(who in row["figures"] for row in rows)]


def rows_of(data, ranks):
    return [row for row in data["rows"] if row["ranks"] == ranks and "ours" in row["figures"]]


def all_ranks(data):
    return sorted({row["ranks"] for row in data["rows"]})


def fitting_ranks(data):
    """The most ranks that had a core each, or None."""
    return max((ranks for ranks in all_ranks(data) if ranks <= data["machine"]["cores"]),
               default=None)


# ---- cells --------------------------------------------------------------------------------------


def time_cell(row, name):
    if name in row["figures"]:
        return table.seconds(row["figures"][name]["time"])
    return f"> {row['too_slow'][name]} s" if name in row["too_slow"] else "-"


def interval_cell(figure):
    return f"{table.seconds(figure['low'])} to {table.seconds(figure['high'])}" if figure else "-"


def bound_cell(row):
    """A dash where little else than communication is measured."""
    return f"{row['bound']:.2f}" if row["bound"] and row["bound"] < 10 else "-"


def rate_cell(rate, unit):
    return f"{rate / 1e6:.1f} M {unit}/s" if rate else "-"


# ---- tables -------------------------------------------------------------------------------------


def main_table(data):
    who = who_took_part(data["rows"])
    yield ["case", "ranks", *(NAMES[name] for name in who), "95 % of ours", "of it communication",
           "ratio", "at most", "aim", ""]
    for row in data["rows"]:
        mine = row["figures"].get("ours")
        spent = mine["computation"] + mine["communication"] if mine else 0
        yield [row["case"], str(row["ranks"]), *(time_cell(row, name) for name in who),
               interval_cell(mine), f"{100 * mine['communication'] / spent:.0f} %" if spent else "-",
               table.ratio(row["ratio"]), bound_cell(row),
               f">= {row['aim']:g}" if row["aim"] else "", row["verdict"]]


def first_table(data):
    rows = rows_of(data, fitting_ranks(data))
    who = who_took_part(rows)
    yield ["case", "ranks", *(f"{NAMES[name]}{what}" for name in who for what in ("", ", warm"))]
    for row in rows:
        figures = [row["figures"].get(name) for name in who]
        yield [row["case"], str(row["ranks"]),
               *(table.seconds(figure[turn]) if figure else "-" for figure in figures
                 for turn in ("first", "time"))]


def weak_table(data):
    ranks = all_ranks(data)
    yield ["case", *(f"{count} ranks" for count in ranks),
           f"one per core, as much as {ranks[-1]}", "kept of that", "kept", "aim", ""]
    for row in data["weak"]:
        # The keys of a file's objects are strings.
        rates = {int(count): rate for count, rate in row["rates"].items()}
        yield [row["case"], *(rate_cell(rates.get(count), row["unit"]) for count in ranks),
               rate_cell(row["same"], row["unit"]), table.ratio(row["kept_of_same"]),
               table.ratio(row["kept"]), f">= {row['aim']:g}", row["verdict"]]


def hosts_table(data):
    twins = [who for who in who_took_part(data["hosts"]) if who in data["peers"]]
    yield ["case", "Split-C over", "Split-C", "speed-up", *(NAMES[who] for who in twins), "ratio",
           "aim", ""]
    for row in data["hosts"]:
        yield [row["case"], row["network"], time_cell(row, row["network"]),
               table.ratio(row["speed_up"]), *(time_cell(row, who) for who in twins),
               table.ratio(row["ratio"]), f">= {row['aim']:g}", row["verdict"]]


NOTE = ("The times are those of the slowest processor. The ratio is the best peer's time to ours; "
        "it could be at most what is said beside it if our communication took no time.")
HOSTS_NOTE = ("The hosts are namespaces of one machine, joined by a bridge, with a rank and a core each; "
              "the peers use TCP. The speed-up is that of our rate over our rate on one rank.")
FIRST_NOTE = ("Every program does its problem twice, and everywhere else the second time counts. "
              "The first finds memory that its process has never touched, and pays for new pages; "
              "what that takes is up to the system and, on a virtual machine, to its host.")
WEAK_NOTE = ("What is kept is the throughput with most ranks against that of one rank per core. "
             "With more ranks there is more to sort, and less of it in the caches: kept of that is "
             "against one rank per core that has as much to do as all those ranks.")


def tables(data):
    """All of them; those of the papers need data["curves"] for figures of messages."""
    yield Table("All programs", main_table(data), NOTE)
    if rows_of(data, fitting_ranks(data)):
        yield Table("The first turn", first_table(data), FIRST_NOTE)
    if data["weak"]:
        yield Table("Throughput, each rank having as much to do", weak_table(data), WEAK_NOTE)
    if data["hosts"]:
        yield Table("Between two hosts, a rank on each", hosts_table(data), HOSTS_NOTE)
    yield from papers.tables(data)
