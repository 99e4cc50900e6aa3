// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "failure.h"
#include "options.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

namespace {

// The line that a bad command line gets; empty if it is a good one.
std::string complaint(const Strings &arguments)
{
    try {
        parse_options(arguments);
    } catch (const Failure &failure) {
        CHECK(failure.code == exit_usage);
        return failure.what();
    }
    return {};
}

} // namespace

TEST_CASE("a program alone is one rank")
{
    const Options options = parse_options({"./prog"});
    CHECK_FALSE(options.ranks);
    CHECK(ranks_of(options, {}) == 1);
    CHECK(options.command == Strings{"./prog"});
    CHECK(options.bind_to == BindTo::automatic);
    CHECK(options.timeout.count() == 0);
    CHECK_FALSE(options.tag_output);
}

TEST_CASE("the number of ranks can be written in the ways of mpiexec")
{
    const Strings arguments =
        GENERATE(Strings{"-n", "8", "p"}, Strings{"-np", "8", "p"}, Strings{"-n8", "p"});
    const Options options = parse_options(arguments);
    CHECK(options.ranks == 8);
    CHECK(options.command == Strings{"p"});
}

TEST_CASE("every option is understood, with the value apart or after an equals sign")
{
    const bool apart = GENERATE(true, false);
    const Strings arguments =
        apart ? Strings{"-n",      "4",         "-x",  "A=1",       "-x",   "B",  "--wdir",
                        "/data",   "--timeout", "2.5", "--bind-to", "core", "-v", "--tag-output",
                        "--nodes", "2",         "p"}
              : Strings{"-n4",           "-xA=1",
                        "-xB",           "--wdir=/data",
                        "--timeout=2.5", "--bind-to=core",
                        "--verbose",     "--tag-output",
                        "--nodes=2",     "p"};
    const Options options = parse_options(arguments);
    CHECK(options.ranks == 4);
    CHECK(options.variables == Strings{"A=1", "B"});
    CHECK(options.directory == "/data");
    CHECK(options.timeout.count() == 2500);
    CHECK(options.bind_to == BindTo::core);
    CHECK(options.verbose);
    CHECK(options.tag_output);
    CHECK(options.nodes == 2);
    CHECK(options.command == Strings{"p"});
}

TEST_CASE("what follows the program's name belongs to the program")
{
    const Options options = parse_options({"-n", "2", "prog", "-n", "3", "--bogus", "--", "-x"});
    CHECK(options.ranks == 2);
    CHECK(options.command == Strings{"prog", "-n", "3", "--bogus", "--", "-x"});
}

TEST_CASE("two dashes end the options")
{
    CHECK(parse_options({"-n", "2", "--", "-prog", "-v"}).command == Strings{"-prog", "-v"});
    CHECK(parse_options({"--", "--", "a"}).command == Strings{"--", "a"});
}

TEST_CASE("a single dash is the name of a program")
{
    CHECK(parse_options({"-"}).command == Strings{"-"});
}

TEST_CASE("a bad number of ranks is refused")
{
    const std::string number = GENERATE("0", "-1", "+4", "", " 4", "4 ", "4x", "x", "3.5", "65537",
                                        "99999999999999999999");
    CHECK_THAT(complaint({"-n", number, "p"}),
               Contains("-n wants a number from 1 to 65536") && Contains("'" + number + "'"));
    CHECK(parse_options({"-n", "65536", "p"}).ranks == 65536);
}

TEST_CASE("a bad time limit is refused")
{
    const std::string seconds = GENERATE("0", "-3", "soon", "1h", "nan", "inf", "1e30", "");
    CHECK_THAT(complaint({"--timeout", seconds, "p"}), Contains("--timeout wants a number"));
}

TEST_CASE("other bad command lines get a line that says what is wrong")
{
    CHECK_THAT(complaint({"--bogus", "p"}), Contains("unknown option --bogus"));
    CHECK_THAT(complaint({"-q", "p"}), Contains("unknown option -q"));
    CHECK_THAT(complaint({"--wdirx=/", "p"}), Contains("unknown option --wdirx"));
    CHECK_THAT(complaint({"--tag-output=yes", "p"}), Contains("unknown option"));
    CHECK_THAT(complaint({"-n"}), Contains("-n wants a value"));
    CHECK_THAT(complaint({"--wdir"}), Contains("--wdir wants a value"));
    CHECK_THAT(complaint({}), Contains("no program"));
    CHECK_THAT(complaint({"-n", "4"}), Contains("no program"));
    CHECK_THAT(complaint({"--bind-to", "chair", "p"}), Contains("core, socket or none"));
    CHECK_THAT(complaint({"--map-by", "chair", "p"}), Contains("slot, core or node"));
    CHECK_THAT(complaint({"-n", "2", "--nodes", "3", "p"}), Contains("--nodes 3"));
    CHECK_THAT(complaint({"--bogus", "p"}), Contains("unetrun --help"));
}

TEST_CASE("help and version need no program, and help names every option")
{
    CHECK(parse_options({"--help"}).action == Options::Action::help);
    CHECK(parse_options({"-n", "4", "-h"}).action == Options::Action::help);
    CHECK(parse_options({"--version"}).action == Options::Action::version);
    for (const char *name : {"-n, -np N", "-x VAR", "--wdir", "--tag-output", "--timeout S",
                             "--bind-to core|socket|none", "--nodes", "--hosts A,B:4",
                             "--hostfile FILE", "--ppn K", "--map-by slot|core|node", "--rsh CMD",
                             "--fanout K", "--stage", "-v", "--version", "--help"})
        CHECK_THAT(help_text(), Contains(name));
}

TEST_CASE("option -x sets, replaces and checks variables")
{
    const Strings inherited{"A=1", "AB=2", "C="};
    CHECK(with_variables(inherited, {}) == inherited);
    CHECK(with_variables(inherited, {"A=x=y", "D="}) == Strings{"A=x=y", "AB=2", "C=", "D="});
    CHECK(with_variables(inherited, {"A", "C"}) == inherited);
    CHECK_THROWS_WITH(with_variables(inherited, {"B"}), Contains("-x B: it is not set"));
    CHECK_THROWS_WITH(with_variables(inherited, {"=1"}), Contains("name of a variable"));
    CHECK_THROWS_WITH(with_variables(inherited, {""}), Contains("name of a variable"));
}

TEST_CASE("ranks to debug are told by numbers, ranges, or all")
{
    using Ranks = std::vector<std::uint32_t>;
    const Options some = parse_options({"-n", "8", "--gdb", "0,4-6", "p"});
    CHECK(some.wrapped == Ranks{0, 4, 5, 6});
    CHECK(some.wrapper.front() == "gdbserver");
    CHECK(some.tag_output);
    const Options all = parse_options({"-n", "2", "--valgrind=all", "p"});
    CHECK(all.wrapped.empty());
    CHECK(all.wrapper.front() == "valgrind");
}

TEST_CASE("ranks to debug that make no sense")
{
    for (const char *ranks : {"", ",", "x", "1-", "-1", "3-2", "0,,1", "99999", "1 2"})
        CHECK_THAT(complaint({"-n", "4", "--gdb", ranks, "p"}),
                   Contains("--gdb wants ranks, as in 0,4-6, or all, not '"));
    CHECK_THAT(complaint({"-n", "4", "--gdb", "4", "p"}),
               Contains("there is no rank 4 to run in gdbserver: -n 4 starts ranks 0 to 3"));
    CHECK_THAT(complaint({"--gdb", "0", "--valgrind", "0", "p"}),
               Contains("give one of --gdb and --valgrind"));
}

TEST_CASE("hosts, and what they are for, come together")
{
    const Options options =
        parse_options({"--hosts", "a,b:4", "--map-by", "node", "--rsh", "ssh -F f", "--fanout=4",
                       "--stage", "--bind-to", "socket", "-n", "3", "p"});
    CHECK(options.hosts == std::vector<Host>{{"a", {}}, {"b", 4}});
    CHECK(options.map_by == MapBy::node);
    CHECK(options.rsh == Strings{"ssh", "-F", "f"});
    CHECK(options.fanout == 4);
    CHECK(options.stage);
    CHECK(options.bind_to == BindTo::socket);
    CHECK(parse_options({"p"}).rsh.front() == "ssh");
    CHECK(parse_options({"--net", "10.1.0.0/16", "p"}).variables ==
          Strings{"UNET_UDP_ADDRESS=10.1.0.0/16", "UNET_ETH_INTERFACE=10.1.0.0/16",
                  "UNET_FE_INTERFACE=10.1.0.0/16"});
    CHECK(parse_options({"--iface=ib0", "p"}).variables ==
          Strings{"UNET_UDP_ADDRESS=ib0", "UNET_ETH_INTERFACE=ib0", "UNET_FE_INTERFACE=ib0"});
}

TEST_CASE("without -n there are as many ranks as the hosts have room for")
{
    const std::vector<std::uint32_t> slots{1, 4};
    CHECK(ranks_of(parse_options({"--hosts", "a,b:4", "p"}), slots) == 5);
    CHECK(ranks_of(parse_options({"--hosts", "a,b:4", "-n", "9", "p"}), slots) == 9);
    CHECK(ranks_of(parse_options({"--hosts", "a,b", "--ppn", "2", "-n", "3", "p"}), {2, 2}) == 3);
}

TEST_CASE("places that do not fit together are refused")
{
    CHECK_THAT(complaint({"--hosts", "a", "--hosts", "b", "p"}), Contains("named twice"));
    CHECK_THAT(complaint({"--hosts", "a,-b", "p"}), Contains("'-b' is no host's name"));
    CHECK_THAT(complaint({"--hosts", "a,b", "--nodes", "2", "-n", "2", "p"}), Contains("--nodes"));
    CHECK_THAT(complaint({"--ppn", "2", "p"}), Contains("--ppn wants hosts"));
    CHECK_THAT(complaint({"--hosts", "a,b", "--ppn", "2", "-n", "5", "p"}),
               Contains("-n 5 ranks do not fit on 2 hosts with 2 each (--ppn)"));
    CHECK_THAT(complaint({"--hosts", "a:65536,b", "p"}), Contains("65537 ranks"));
    CHECK_THAT(complaint({"--hosts", "a:2", "--gdb", "2", "p"}), Contains("there is no rank 2"));
    CHECK_THAT(complaint({"--net=", "p"}), Contains("--net wants a network"));
    CHECK_THAT(complaint({"--rsh", "", "p"}), Contains("--rsh wants a command"));
}
