// SPDX-License-Identifier: BSD-3-Clause
//
// Random C programs of csmith: translated by splitcc they do what they do when
// the C compiler gets them directly.  A failure prints the commands that show it
// again.  SPLITC_RANDOM=N moves all seeds by N, for programs never tried before.
#include "process.h"
#include "splitc_run.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

// Small programs: what they lack in size, their number makes up for.
const Words generator{
    CSMITH, "--max-funcs",      "5", "--max-block-depth", "3", "--float", "--max-array-len-per-dim",
    "5",    "--inline-function"};
const Words options{"-w", "-O0", "-I" CSMITH_INCLUDE};

std::string joined(const Words &words)
{
    std::string line;
    for (const std::string &word : words)
        line += (line.empty() ? "" : " ") + word;
    return line;
}

Words operator+(Words a, const Words &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

class Trial {
public:
    explicit Trial(unsigned long seed) : seed_(seed) {}

    // False if the program is of no use because it runs for ever.
    bool run()
    {
        const Words generate = generator + Words{"--seed", std::to_string(seed_), "-o", "p.c"};
        const Words direct = Words{"cc"} + options + Words{"p.c", "-o", "direct"};
        const Words translated =
            Words{compiler()} + options + Words{"-x", "splitc", "p.c", "-o", "translated"};
        INFO("to see it again:\n  " << joined(generate) << "\n  " << joined(direct)
                                    << " && ./direct 1"
                                    << "\n  " << joined(translated) << " && ./translated 1");
        build(generate);
        build(direct);
        const Outcome expected = start("direct", 2s);
        if (expected.code < 0)
            return false;
        build(translated);
        const Outcome saw = start("translated", 20s);
        CHECK(saw.code == expected.code);
        CHECK(saw.err == expected.err);
        CHECK(saw.out == expected.out);
        return true;
    }

private:
    void build(const Words &words) const
    {
        const Outcome outcome = ::run({words, {}, folder_.path});
        INFO(joined(words) << " printed:\n" << outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
    }
    // csmith's programs print the checksum of each global variable when given a 1.
    Outcome start(const std::string &program, std::chrono::seconds limit) const
    {
        return ::run({{folder_ / program, "1"}, {}, folder_.path, limit});
    }

    unsigned long seed_;
    TemporaryFolder folder_;
};

unsigned long first_seed()
{
    const char *text = std::getenv("SPLITC_RANDOM");
    return text ? std::strtoul(text, nullptr, 10) : 0;
}

void compare_programs(unsigned long first, unsigned long last)
{
    unsigned long compared = 0;
    for (unsigned long seed = first; seed <= last; seed++)
        compared += Trial(first_seed() + seed).run();
    INFO(compared << " of the programs " << first << " to " << last << " came to an end");
    CHECK(compared > (last - first) / 2);
}

} // namespace

#include CASES
