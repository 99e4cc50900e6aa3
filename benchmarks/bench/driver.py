# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark has to say of itself, and what is then done for it."""
import argparse
import importlib
import os
import pathlib
import sys
import types

from bench import peers, results
from bench.hosts import SOURCES


class Effort(types.SimpleNamespace):
    """How much of everything is done: the numbers of turns and seconds, sizes, and so on."""


class Driver:
    """A benchmark.  NAME/NAME.py has a subclass, and an object of that called DRIVER."""

    name = ""
    summary = ""  # what --help says
    quick = ""  # what --help says of --quick
    peers = peers.NAMES  # the libraries that may take part
    efforts = {}  # by "full", "quick" and, if it has that for its test, "tiny": options.effort

    def add_options(self, parser):
        """Add options of its own."""

    def check_options(self, parser, options):
        """Fill in defaults, and end with parser.error where options contradict each other."""

    def build_peer(self, peer, options):
        """Build what is measured of a peer; why that fails, or None."""
        folder = options.build / "benchmarks" / "peers"
        folder.mkdir(parents=True, exist_ok=True)
        return peer.compile(folder / peer.name, *(f"peers/{name}" for name in peer.sources))

    def measure(self, options):
        """The rows, the failures, and what else goes into the file (results.py)."""
        raise NotImplementedError

    def tables(self, data):
        """The tables of what is in a file, for the report."""
        raise NotImplementedError

    def pictures(self, plt, data):  # pylint: disable=unused-argument
        """The plots of what is in a file (plots.Picture), for the report."""
        return ()

    def terminal_tables(self, data):
        """The tables that are printed."""
        return self.tables(data)

    def finish(self, options, data):
        """Do what is left after the results are printed and written."""


def load(name):
    """The driver in NAME/NAME.py."""
    sys.path.insert(0, str(SOURCES / name))
    return importlib.import_module(name).DRIVER


def names(what, known, or_none=False):
    """The type of an option that takes a list of known names with commas, or "none"."""
    def parse_names(text):
        wanted = [name for name in text.split(",") if not or_none or name not in ("", "none")]
        for name in wanted:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no {what} '{name}': there are "
                                                 f"{', '.join(known)}")
        return [name for name in known if name in wanted]
    return parse_names


def parser_of(driver):
    parser = argparse.ArgumentParser(prog=f"dev bench {driver.name}", description=driver.summary)
    parser.add_argument("--quick", action="store_true", help=driver.quick)
    if "tiny" in driver.efforts:
        parser.add_argument("--tiny", action="store_true", help="just enough to see that it works")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    if driver.peers:
        parser.add_argument("--peers", metavar="LIST", default=driver.peers,
                            type=names("peer", peers.NAMES, or_none=True),
                            help=f"of {','.join(driver.peers)}, or none (default: those that are "
                                 "installed)")
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).absolute(),
                        default=SOURCES.parent / "build", help=argparse.SUPPRESS)
    driver.add_options(parser)
    return parser


def parse(driver, arguments):
    parser = parser_of(driver)
    options = parser.parse_args(arguments)
    options.tiny = getattr(options, "tiny", False)
    kind = "tiny" if options.tiny else "quick" if options.quick else "full"
    options.effort = driver.efforts.get(kind)
    driver.check_options(parser, options)
    check_json(driver, options)
    return options


def refuse_json(driver, path, trouble):
    """The end, if there is no use in measuring; the line that tells why."""
    print(f"{driver.name}: cannot write {path}: {trouble.strerror}; name a file in a folder that is "
          "there, and that you may write to (--json)", file=sys.stderr)
    return 2


def check_json(driver, options):
    """Refuse a file that cannot be written before anything is measured.  An old one stays as it is."""
    path = pathlib.Path(os.path.realpath(options.json)) if options.json else None
    if not path or (path.exists() and not (path.is_file() or path.is_dir())):
        return  # a pipe, for example, which opening may end
    there = path.exists()
    try:
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
    except OSError as trouble:
        sys.exit(refuse_json(driver, options.json, trouble))


def check(driver, arguments):
    """Refuse what no machine and no build would make good, as `./dev bench` asks before it builds."""
    options = parser_of(driver).parse_args(arguments)
    check_json(driver, options)
    return 0


def choose_peers(driver, options):
    """Build what is measured of the peers that were asked for, and leave out who fails."""
    wanted = [name for name in getattr(options, "peers", ()) if name in driver.peers]
    options.peers, options.missing = [], {}
    for peer in map(peers.ALL.get, wanted):
        tool = peer.missing()
        why = f"no {tool}" if tool else driver.build_peer(peer, options)
        if why:
            options.missing[peer.name] = why
            print(f"{driver.name}: without {peer.name}: {why}", file=sys.stderr)
        else:
            options.peers.append(peer)


def main(driver, arguments):
    """Run the benchmark; 1 if anything but a peer failed."""
    options = parse(driver, arguments)
    load_before = os.getloadavg()[0]
    if load_before > 0.5 and not options.tiny:
        print(f"{driver.name}: the machine is busy (load {load_before:.1f}): only ratios mean "
              "anything", file=sys.stderr)
    choose_peers(driver, options)
    data = results.make(driver.name, options, load_before, driver.measure(options))
    for table in driver.terminal_tables(data):
        print(table.plain())
    for row in data["rows"]:
        aims = row.get("aims", ())
        for aim in aims if len(aims) > 1 else ():  # the table tells of a single one
            if aim["met"] is False:
                print(f"missed: {row['title']}: {aim['aim']}")
    for text in data["failures"]:
        print(f"failed: {text}")
    if options.json:
        try:
            results.write(options.json, data)
        except OSError as trouble:
            return refuse_json(driver, options.json, trouble)
    driver.finish(options, data)
    return 1 if any(not text.startswith(peers.NAMES) for text in data["failures"]) else 0
