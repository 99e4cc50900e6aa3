// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <fstream>

#include "common/failure.h"
#include "common/test_scratch.h"
#include "front/command_line.h"
#include "front/option_texts.h"

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
    CHECK(options.programs.front().command == Strings{"./prog"});
    CHECK(options.bind_to == BindTo::automatic);
    CHECK(options.timeout.count() == 0);
    CHECK_FALSE(options.tag_output);
}

TEST_CASE("the number of ranks can be written in the ways of mpiexec")
{
    const Strings arguments =
        GENERATE(Strings{"-n", "8", "p"}, Strings{"-np", "8", "p"}, Strings{"-n8", "p"},
                 Strings{"-np8", "p"}, Strings{"--np", "8", "p"}, Strings{"--np=8", "p"});
    const Options options = parse_options(arguments);
    CHECK(options.ranks == 8);
    CHECK(options.programs.front().command == Strings{"p"});
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
    CHECK(options.programs.front().command == Strings{"p"});
}

TEST_CASE("what follows the program's name belongs to the program")
{
    const Options options = parse_options({"-n", "2", "prog", "-n", "3", "--bogus", "--", "-x"});
    CHECK(options.ranks == 2);
    CHECK(options.programs.front().command == Strings{"prog", "-n", "3", "--bogus", "--", "-x"});
}

TEST_CASE("two dashes end the options")
{
    CHECK(parse_options({"-n", "2", "--", "-prog", "-v"}).programs.front().command ==
          Strings{"-prog", "-v"});
    CHECK(parse_options({"--", "--", "a"}).programs.front().command == Strings{"--", "a"});
}

TEST_CASE("a colon begins another program, but not behind two dashes")
{
    const Options options =
        parse_options({"-n", "2", "-x", "A=1", "./a", "x", ":", "-n3", "-x", "B=2", "./b"});
    REQUIRE(options.programs.size() == 2);
    CHECK(options.ranks == 5u);
    CHECK(options.variables == Strings{"A=1"});
    CHECK(options.programs[0].ranks == 2u);
    CHECK(options.programs[0].command == Strings{"./a", "x"});
    CHECK(options.programs[0].variables.empty());
    CHECK(options.programs[1].ranks == 3u);
    CHECK(options.programs[1].command == Strings{"./b"});
    CHECK(options.programs[1].variables == Strings{"B=2"});
    CHECK(parse_options({"-n", "2", "--", "./a", ":", "b"}).programs.front().command ==
          Strings{"./a", ":", "b"});
    CHECK(parse_options({"-n", "1", "a", ":", "-n", "1", "--", "b", ":"}).programs[1].command ==
          Strings{"b", ":"});
    CHECK(parse_options({"./a", "a:b", "::"}).programs.front().command ==
          Strings{"./a", "a:b", "::"});
}

TEST_CASE("what programs of one job cannot have is refused")
{
    CHECK_THAT(complaint({"./a", ":", "-n", "2", "./b"}),
               Contains("each has to have its number of ranks: -n N in front of ./a"));
    CHECK_THAT(complaint({"-n", "2", "./a", ":", "./b"}), Contains("-n N in front of ./b"));
    CHECK_THAT(complaint({"-n", "2", "./a", ":"}), Contains("no program behind the last ':'"));
    CHECK_THAT(complaint({"-n", "2", "./a", ":", "-n", "2"}), Contains("no program to run"));
    CHECK_THAT(complaint({"-n", "2", ":", "-n", "2", "./b"}), Contains("no program to run"));
    CHECK_THAT(complaint({"-n", "2", "./a", ":", "-n", "2", "--hosts", "h", "./b"}),
               Contains("--hosts is for the whole job; write it in front of the first program"));
    CHECK_THAT(complaint({"-n", "2", "./a", ":", "-n", "2", "-x", "SPLITC_HEAP=1G", "./b"}),
               Contains("SPLITC_HEAP has to be the same for all ranks"));
    CHECK_THAT(complaint({"-n", "65000", "./a", ":", "-n", "65000", "./b"}),
               Contains("the programs have 130000 ranks; a job has up to 65536"));
    CHECK_THAT(complaint({"--only", "4", "-n", "2", "./a", ":", "-n", "2", "./b"}),
               Contains("there is no rank 4"));
}

TEST_CASE("a file may name the programs")
{
    const Scratch scratch;
    const std::string file = scratch.path / "programs";
    const auto with = [&](const std::string &text, Strings arguments) {
        std::ofstream(file) << text;
        arguments.insert(arguments.end(), {"--configfile", file});
        return arguments;
    };
    const Options options = parse_options(with("# comment\n\n-n 2 ./a 'x y' \\\n  \"\" z\r\n"
                                               "-n 1 -x A=1 ./b : -n 4 c",
                                               {"--timeout", "5"}));
    REQUIRE(options.programs.size() == 3);
    CHECK(options.ranks == 7u);
    CHECK(options.programs[0].command == Strings{"./a", "x y", "", "z"});
    CHECK(options.programs[1].variables == Strings{"A=1"});
    CHECK(options.programs[2].command == Strings{"c"});
    CHECK(parse_options(with("./a\n", {"--hosts", "h:3"})).programs.front().command ==
          Strings{"./a"});
    for (const std::string name : {"-configfile", "--app"})
        CHECK(parse_options({name, file}).config_file == file);

    CHECK_THAT(complaint(with("-n 1 ./a\n\n-n 1 -q ./b\n", {})),
               Contains(file + ":3: unknown option -q"));
    CHECK_THAT(complaint(with("-n 1 'a\n", {})), Contains(file + ":1: a quote is not closed"));
    CHECK_THAT(complaint(with("-n 1 a \\\n", {})), Contains("ends with a backslash"));
    CHECK_THAT(complaint(with("#\n", {})), Contains("names no program"));
    CHECK_THAT(complaint(with("--hosts h ./a\n", {})), Contains("is for the whole job"));
    CHECK_THAT(complaint(with("--configfile x ./a\n", {})), Contains("is for the whole job"));
    CHECK_THAT(complaint(with("-n 1 ./a\n", {"-n", "2"})), Contains("leave both out here"));
    CHECK_THAT(complaint({"--configfile", file, "./a"}), Contains("leave both out here"));
    CHECK_THAT(complaint({"--configfile", "/no/such"}), Contains("No such file"));
    CHECK_THAT(complaint({"--configfile", scratch.path.string()}), Contains("cannot be read"));
}

TEST_CASE("a single dash is the name of a program")
{
    CHECK(parse_options({"-"}).programs.front().command == Strings{"-"});
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
    CHECK_THAT(complaint({"--bind-to", "chair", "p"}),
               Contains("core, core:K, l3, numa, socket or none"));
    CHECK_THAT(complaint({"--bind-to", "core:0", "p"}),
               Contains("--bind-to core:K wants a number"));
    CHECK_THAT(complaint({"--bind-to", "l3:2", "p"}), Contains("not 'l3:2'"));
    CHECK_THAT(complaint({"--output", "out.%d", "p"}), Contains("%r is the rank"));
    CHECK_THAT(complaint({"--only", "3-1", "p"}), Contains("--only wants ranks"));
    CHECK_THAT(complaint({"--map-by", "chair", "p"}), Contains("slot, core or node"));
    CHECK_THAT(complaint({"-n", "2", "--nodes", "3", "p"}), Contains("--nodes 3"));
    CHECK_THAT(complaint({"--bogus", "p"}), Contains("unetrun --help"));
}

TEST_CASE("help and version need no program, and help names every option")
{
    CHECK(parse_options({"--help"}).action == Options::Action::help);
    CHECK(parse_options({"-n", "4", "-h"}).action == Options::Action::help);
    CHECK(parse_options({"--version"}).action == Options::Action::version);
    for (const char *name : {"-n, -np N",
                             "-x VAR",
                             "--wdir",
                             "--tag-output",
                             "--timeout S",
                             "--bind-to core|core:K|",
                             "--report-bindings",
                             "--backtrace",
                             "--output FILE",
                             "--only RANKS",
                             "--nodes",
                             "--hosts HOSTS",
                             "--hostfile FILE",
                             "--ppn K",
                             "--map-by slot|core|node",
                             "--rsh CMD",
                             "--fanout K",
                             "--stage",
                             "-v",
                             "--version",
                             "--help"})
        CHECK_THAT(help_text(), Contains(name));
}

TEST_CASE("option -x sets, replaces and checks variables")
{
    const Strings inherited{"A=1", "AB=2", "C="};
    CHECK(with_variables(inherited, {}) == inherited);
    CHECK(with_variables(inherited, {"A=x=y", "D="}) == Strings{"A=x=y", "AB=2", "C=", "D="});
    CHECK(with_variables(inherited, {"A", "C"}) == inherited);
    CHECK_THROWS_WITH(with_variables(inherited, {"B"}), Contains("-x B: it is not set"));
    for (const char *bad : {"", "=1", "./pi", "1A", "A B=1", "A-B"})
        CHECK_THAT(complaint({"-x", bad, "p"}), Contains("-x wants a variable, as in -x NAME") &&
                                                    Contains("'" + std::string(bad) + "'"));
}

TEST_CASE("an option that takes the program for its value is named")
{
    CHECK_THAT(complaint({"-n", "2", "-x", "./pi"}), Contains("'./pi' is none"));
    CHECK_THAT(complaint({"-n", "2", "-x", "pi"}),
               Contains("no program to run, as 'pi' is the value of -x"));
    CHECK_THAT(complaint({"--wdir", "./pi"}), Contains("'./pi' is the value of --wdir"));
    CHECK_THAT(complaint({"-n", "2"}), Contains("'2' is the value of -n"));
    CHECK_THAT(complaint({"-n", "2", "-v"}), Contains("no program to run: "));
}

TEST_CASE("words of other launchers that mean the same are understood")
{
    for (const char *option : {"--hosts", "-hosts", "--host", "-host", "-H"})
        CHECK(parse_options({option, "a,b:4", "p"}).hosts ==
              std::vector<Host>{{"a", {}}, {"b", 4}});
    for (const char *option : {"--ppn", "-ppn"})
        CHECK(parse_options({"--hosts", "a", option, "3", "p"}).ppn == 3);
    for (const char *option : {"--hostfile", "-hostfile", "--machinefile", "-machinefile", "-f"})
        CHECK_THAT(complaint({option, "/no/such/file", "p"}),
                   Contains("--hostfile /no/such/file: No such file"));
    for (const char *option : {"--wdir", "-wdir", "--wd", "-wd"})
        CHECK(parse_options({option, "/data", "p"}).directory == "/data");
    CHECK(parse_options({"-bind-to", "none", "p"}).bind_to == BindTo::none);
    CHECK(parse_options({"--bind-to", "numa", "p"}).bind_to == BindTo::numa);
    CHECK(parse_options({"--bind-to", "l3", "p"}).bind_to == BindTo::l3);
    CHECK(parse_options({"--bind-to", "core:4", "p"}).cores_per_rank == 4);
    CHECK(parse_options({"-n", "8", "--only", "0,4-6", "p"}).only ==
          std::vector<std::uint32_t>{0, 4, 5, 6});
}

TEST_CASE("words of other launchers that mean something else are answered with ours")
{
    struct Case {
        Strings arguments;
        const char *option, *ours;
    };
    const auto other = GENERATE(
        Case{{"-N", "2", "p"}, "-N", "--ppn K"}, Case{{"--ntasks=4", "p"}, "--ntasks=4", "-n N"},
        Case{{"-npernode", "4", "p"}, "-npernode", "--ppn K"},
        Case{{"--oversubscribe", "p"}, "--oversubscribe", "leave it out"},
        Case{{"-genv", "A", "1", "p"}, "-genv", "-x NAME=VALUE"},
        Case{{"--mca", "btl", "tcp", "p"}, "--mca", "Open MPI"},
        Case{{"--mpi=pmix", "p"}, "--mpi=pmix", "srun"}, Case{{"-l", "p"}, "-l", "--tag-output"},
        Case{{"-w", "a", "p"}, "-w", "--hosts"});
    CHECK_THAT(complaint(other.arguments),
               Contains("unknown option " + std::string(other.option) + ": ") &&
                   Contains(other.ours));
}

TEST_CASE("what ranks would not understand is refused, and named as the user wrote it")
{
    struct Case {
        const char *option, *value, *wants;
    };
    const auto bad = GENERATE(
        Case{"--heap", "lots", "bytes, with K, M, G or T"}, Case{"--heap", "", "bytes"},
        Case{"--heap", "17T", "up to 16T"},
        Case{"--backend", "pigeon", "shm, udp, eth, fe, ni, ofi or atm"},
        Case{"--backend", "udp,shm", "for the ranks of a node and between nodes"},
        Case{"--backend", "shm,", "shm,udp"}, Case{"--backend", "", "shm, udp"},
        Case{"--chaos", "loss=2", "probabilities P from 0 to 1"}, Case{"--chaos", "", "loss=P"},
        Case{"--peer-timeout", "0.01", "seconds, from 0.1 to 86400"},
        Case{"--peer-timeout", "soon", "seconds"}, Case{"--auth", "none", "full, header or off"},
        Case{"--auth", "", "full, header or off"}, Case{"--net", "eth0", "--iface takes an"},
        Case{"--net", "10.1.0.0/33", "10.1.0.0/16"}, Case{"--net", "10.1.0.0/", "10.1.0.0/16"},
        Case{"--iface", "10.1.0.0/16", "--net takes a network"},
        Case{"--iface", "a-name-too-long0", "the name of an interface"});
    INFO(bad.option << " " << bad.value);
    CHECK_THAT(complaint({bad.option, bad.value, "p"}),
               Contains(std::string(bad.option) + " wants ") && Contains(bad.wants) &&
                   Contains("not '" + std::string(bad.value) + "'"));
}

TEST_CASE("what ranks understand passes")
{
    for (const char *value :
         {"shm", "udp", "eth", "fe", "ni", "mux", "shm,udp", "shm,ni", "loopback", "auto"})
        CHECK(complaint({"--backend", value, "p"}).empty());
    for (const char *value : {"4096", "512M", "16T"})
        CHECK(complaint({"--heap", value, "p"}).empty());
    for (const char *value : {"10.1.0.0/16", "10.1.2.3", "fd00::/8", "fe80::1%lo"})
        CHECK(complaint({"--net", value, "p"}).empty());
    for (const char *value : {"full", "header", "off"})
        CHECK(complaint({"--auth", value, "p"}).empty());
    CHECK(complaint({"--chaos", "loss=0.1,seed=3", "--peer-timeout", "0.5", "p"}).empty());
}

TEST_CASE("this machine, by whatever name, is one host, unless a remote shell is named")
{
    const Strings names{"--hosts", "a,localhost:2,127.0.0.1,b,::1,LOCALHOST"};
    const auto with = [&](Strings more) {
        more.insert(more.begin(), names.begin(), names.end());
        more.push_back("p");
        return parse_options(more).hosts;
    };
    CHECK(with({}) == std::vector<Host>{{"a", {}}, {"localhost", 5}, {"b", {}}});
    CHECK(with({"--rsh", "ssh"}).size() == 6);
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
          Strings{"UNET_INTERFACE=10.1.0.0/16"});
    CHECK(parse_options({"--iface=ib0", "p"}).variables == Strings{"UNET_INTERFACE=ib0"});
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
