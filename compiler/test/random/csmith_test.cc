// SPDX-License-Identifier: BSD-3-Clause
//
// Random C programs of csmith behave the same translated by splitcc and compiled directly.  A
// failure prints the commands that repeat it.
#include "trial.h"

namespace {

using namespace std::chrono_literals;

// Many small programs find more than a few large ones in the same time.
const Words generator{
    CSMITH, "--max-funcs",      "5", "--max-block-depth", "3", "--float", "--max-array-len-per-dim",
    "5",    "--inline-function"};
const Words options{"-w", "-O0", "-I" CSMITH_INCLUDE};

// The argument 1 makes csmith's programs print the checksum of each global variable.
Outcome start(const std::string &program, const TemporaryFolder &folder,
              std::chrono::milliseconds limit)
{
    return run({{folder / program, "1"}, {}, folder.path, limit});
}

// Returns false if the program is of no use, because it does not end.
bool compare_program(unsigned long seed)
{
    const TemporaryFolder folder;
    const Words generate = generator + Words{"--seed", std::to_string(seed), "-o", "p.c"};
    const Words direct = Words{"cc"} + options + Words{"p.c", "-o", "direct"};
    const Words translated =
        Words{compiler()} + options + Words{"-x", "splitc", "p.c", "-o", "translated"};
    INFO("to see it again:\n  " << joined(generate) << "\n  " << joined(direct)
                                << " && ./direct 1\n  " << joined(translated)
                                << " && ./translated 1");
    build(generate, folder);
    build(direct, folder);
    const Outcome expected = start("direct", folder, 500ms); // those that end take 2 ms
    if (expected.code < 0)
        return false;
    build(translated, folder);
    const Outcome saw = start("translated", folder, 20s);
    CHECK(saw.code == expected.code);
    CHECK(saw.err == expected.err);
    CHECK(saw.out == expected.out);
    return true;
}

void compare_programs(unsigned long first, unsigned long last)
{
    unsigned long compared = 0;
    for (unsigned long seed = first; seed <= last; seed++)
        compared += compare_program(moved_seed(seed));
    INFO(compared << " of the programs " << first << " to " << last << " came to an end");
    CHECK(compared > (last - first) / 2);
}

} // namespace

#include CASES
