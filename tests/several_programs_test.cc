// SPDX-License-Identifier: BSD-3-Clause
//
// Several programs in one job: in C they may differ, in Split-C they are one, and on several hosts
// it is as on one.
#include "quoted.h"
#include "splitc_run.h"
#include "testbed/hosts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

using Catch::Matchers::Contains;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

Words sorted_lines(const std::string &text)
{
    Words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

Outcome unetrun(const Words &words)
{
    Command command{{launcher()}};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    return run(command);
}

void compile(const std::string &source, const std::string &program)
{
    write_file(program + ".sc", source);
    const Outcome compiled = run({{compiler(), program + ".sc", "-o", program}});
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
}

// Tells its argument, and reads a static object of its neighbour.
const std::string kProgram = R"(#include <split-c/split-c.h>
#include <stdio.h>
static int mine;
int splitc_main(int argc, char **argv)
{
    int *global next = toglobal((MYPROC + 1) % PROCS, &mine);
    mine = MYPROC;
    barrier();
    printf("%s %d %d\n", argc > 1 ? argv[1] : "none", MYPROC, *next);
    return 0;
}
)";

} // namespace

TEST_CASE("programs in C exchange active messages with others of their job")
{
    const Outcome outcome =
        unetrun({"-n", "2", SERVER, ":", "-n", "1", CLIENT, ":", "-n", "1", CLIENT});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(sorted_lines(outcome.out) == Words{"client 2 asked 2 servers", "client 3 asked 2 servers",
                                             "server 0 answered 40 requests",
                                             "server 1 answered 40 requests"});
}

TEST_CASE("ranks of one Split-C program may have different arguments, and files that are copies")
{
    const TemporaryFolder folder;
    const std::string one = folder / "one", copy = folder / "copy";
    compile(kProgram, one);
    fs::copy_file(one, copy);
    for (const char *nodes : {"1", "2"}) {
        const Outcome outcome =
            unetrun({"--nodes", nodes, "-n", "1", one, "first", ":", "-n", "2", copy});
        INFO(outcome.err);
        CHECK(outcome.code == 0);
        CHECK(sorted_lines(outcome.out) == Words{"first 0 1", "none 1 2", "none 2 0"});
    }
}

TEST_CASE("ranks of different Split-C programs are refused")
{
    const TemporaryFolder folder;
    compile(kProgram, folder / "one");
    // The same sizes throughout; only the order of two functions differs.
    const std::string f = "int f(int x) { return 3 * x; }\n",
                      g = "int g(int x) { return 5 * x; }\n";
    compile(f + g + kProgram, folder / "two");
    compile(g + f + kProgram, folder / "three");
    for (const auto &[a, b] : {std::pair{"one", "two"}, std::pair{"two", "three"}})
        for (const char *nodes : {"1", "2"}) {
            const Outcome outcome =
                unetrun({"--nodes", nodes, "-n", "2", folder / a, ":", "-n", "2", folder / b});
            INFO(a << " and " << b << " on " << nodes << " nodes: " << outcome.out << outcome.err);
            CHECK(outcome.code == 1);
            CHECK(outcome.out == "");
            CHECK_THAT(outcome.err,
                       Contains("splitc: rank 0: rank 2 runs another program than rank 0"));
        }
}

TEST_CASE("a job of several programs runs on several hosts")
{
    if (const std::string obstacle = Hosts::obstacle(); !obstacle.empty()) {
        WARN("not run: " + obstacle);
        return;
    }
    const Hosts hosts(2);
    const TemporaryFolder folder;
    const std::string file = folder / "programs";
    write_file(file, "-n 3 " + quoted(SERVER) + "\n-n 3 " + quoted(CLIENT) + "\n");
    const Outcome outcome = unetrun({"--hosts", hosts.all(), "--rsh", hosts.rsh(), "--ppn", "3",
                                     "--stage", "--configfile", file});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(sorted_lines(outcome.out) ==
          Words{"client 3 asked 3 servers", "client 4 asked 3 servers", "client 5 asked 3 servers",
                "server 0 answered 60 requests", "server 1 answered 60 requests",
                "server 2 answered 60 requests"});
}
