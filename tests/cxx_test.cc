// SPDX-License-Identifier: BSD-3-Clause
//
// Split-C's global address space from C++.
#include "splitc_run.h"

#include <catch2/catch.hpp>

namespace {

// Compiles sources of tests/cxx, and runs the program on several processors.
void require_fine(const std::vector<std::string> &sources, const std::vector<std::string> &options)
{
    const TemporaryFolder folder;
    Command compile{{compiler(), "-Wall", "-Wextra", "-Werror", "-O2", "-o", folder / "prog"}};

    for (const std::string &source : sources)
        compile.arguments.push_back(PROJECT_SOURCE "/tests/cxx/" + source);
    compile.arguments.insert(compile.arguments.end(), options.begin(), options.end());
    const Outcome compiled = run(compile);
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
    for (const std::vector<std::string> &job :
         {std::vector<std::string>{"-n", "1"}, {"-n", "3"}, {"-n", "2", "--backend", "udp"}}) {
        Command command{{launcher()}};

        command.arguments.insert(command.arguments.end(), job.begin(), job.end());
        command.arguments.insert(command.arguments.end(), {folder / "prog", "x"});
        const Outcome outcome = run(command);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.out == "fine\n");
        CHECK(outcome.code == 0);
    }
}

} // namespace

TEST_CASE("c++: global and spread pointers do what they do in Split-C")
{
    require_fine({"pointers.cc"}, {"-std=c++17"});
}

TEST_CASE("c++: pointers pass between functions in C++ and in Split-C")
{
    require_fine({"mixed.sc", "mixed_part.cc"}, {});
}

TEST_CASE("c++: what Split-C cannot do is refused by the compiler")
{
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"splitc::global<const int> g; *g = 1;", "the object is const"},
        {"struct s { int *p; s(const s &o) : p(o.p) {} }; splitc::global<s> g; s x = *g;",
         "trivially copyable"},
        {"splitc::global<int> g = 5;", "conversion"},
        {"splitc::global<const int> g; splitc::global<int> h = g;", "conversion"},
        {"splitc::global<const int> g; splitc::bulk_write(g, nullptr, 4);", "no matching|convert"},
    };

    for (const auto &[code, message] : wrong) {
        const TemporaryFolder folder;
        write_file(folder / "wrong.cc",
                   "#include <split-c/split-c.h>\nvoid f()\n{\n" + code + "\n}\n");
        const Outcome outcome = run({{compiler(), "-c", folder / "wrong.cc", "-o", folder / "o"}});
        INFO(code << "\n" << outcome.err);
        CHECK(outcome.code != 0);
        CHECK_THAT(outcome.err, Catch::Matchers::Matches("[^]*(" + message + ")[^]*"));
    }
}
