// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "common/test_scratch.h"
#include "node/source_place.h"
#include "quoted.h"

using namespace unetrun;
using Catch::Matchers::EndsWith;

namespace {

using Places = std::vector<CodePlace>;

// What a program with debugging information, linked with these options, tells of the first
// instruction of its function work().
std::string told_of_work(const std::string &options, const std::string &after = "true")
{
    const Scratch folder;
    const std::string binary = folder.path.string() + "/prog";
    std::ofstream(folder.path.string() + "/prog.c")
        << "int work(int x)\n{\n    return x + 1;\n}\n"
           "int main(void)\n{\n    return work(1);\n}\n";
    const std::string build = "cd " + quoted(folder.path) + " && cc -g -O0 " + options +
                              " prog.c -o prog && nm prog | grep ' T work' | cut -c1-16 > at && " +
                              after;
    REQUIRE(std::system(build.c_str()) == 0);
    std::string at;
    std::getline(std::ifstream(folder.path.string() + "/at"), at);
    const std::string look = "timeout 20 " + quoted(UNETRUN_PROGRAM) + " --source-places " +
                             quoted(binary) + " " + at + " > " + quoted(folder.path / "told");
    REQUIRE(std::system(look.c_str()) == 0);
    std::ifstream told(folder.path.string() + "/told");
    return {std::istreambuf_iterator<char>(told), {}};
}

} // namespace

TEST_CASE("source place: what the other process says is read line by line")
{
    const auto all = parse_source_places("x\ty\n@\nf\ta.sc:1\ng\t\n@\n@\nno tab\n@\nh\tb:2\n", 3);

    REQUIRE(all.size() == 3);
    CHECK(all[0] == Places{{"f", "a.sc:1"}, {"g", ""}});
    CHECK(all[1].empty());
    CHECK(all[2].empty());
    CHECK(line_of({{"f", ""}, {"g", "a.sc:2"}, {"h", "a.sc:3"}}) == "a.sc:2");
    CHECK(line_of({}).empty());
}

TEST_CASE("source place: in programs however they are linked")
{
    for (const char *options : {"-no-pie", "-pie -fPIE", "-static", "-static-pie -fPIE",
                                "-shared -fPIC", "-no-pie -gdwarf-4"}) {
        INFO(options);
        const std::string told = told_of_work(options);
        CHECK_THAT(told, Catch::StartsWith("@\nwork\t") && EndsWith("/prog.c:2\n"));
    }
}

TEST_CASE("source place: what is stripped has no lines, and what is no program nothing")
{
    CHECK(told_of_work("-no-pie", "strip --strip-debug prog") == "@\nwork\t\n");
    CHECK(told_of_work("-no-pie", "strip prog") == "@\n");
    CHECK(told_of_work("-no-pie", "head -c 3000 /dev/urandom > prog") == "@\n");
    CHECK(told_of_work("-no-pie", "rm prog && mkfifo prog") == "@\n");
}
