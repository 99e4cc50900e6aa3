// SPDX-License-Identifier: BSD-3-Clause
//
// Random Split-C programs print on 1, 3 and 4 processors what the sequential model says.  A failure
// prints the commands that repeat it.
#include "program.h"
#include "trial.h"

#include <algorithm>
#include <sstream>

namespace {

using namespace std::chrono_literals;

std::string sorted_lines(const std::string &text)
{
    std::istringstream in(text);
    Words lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string &line : lines)
        all += line + "\n";
    return all;
}

// The options fix the arithmetic of the model: signed numbers wrap, and products are rounded before
// they are added.
Words compile_command(unsigned long seed)
{
    static const std::vector<Words> variants{
        {"-O0"}, {"-O0", "-std=gnu89"}, {"-O1"}, {"-O0", "-std=gnu11"}};
    return Words{compiler(), "-w", "-fwrapv", "-ffp-contract=off"} +
           variants[seed % variants.size()] + Words{"p.sc", "-o", "p"};
}

void check_program(unsigned long seed)
{
    const TemporaryFolder folder;
    const random_program::Program program = random_program::generate(seed);
    const Words compile = compile_command(seed);
    INFO("to see it again:\n  " << BUILD_FOLDER "/test/random_splitc " << seed << " >p.sc\n  "
                                << joined(compile));
    write_file(folder / "p.sc", text_of(program));
    build(compile, folder);
    for (int procs : {1, 3, 4}) {
        INFO("on " << procs << " processors; the model: random_splitc " << seed << " " << procs);
        Command command = ranks(procs, folder / "p", {});
        command.limit = 60s;
        const Outcome outcome = run(command);
        CHECK(outcome.err == "");
        CHECK(outcome.code == 0);
        CHECK(sorted_lines(outcome.out) == model_output(program, procs));
    }
}

void check_programs(unsigned long first, unsigned long last)
{
    for (unsigned long seed = first; seed <= last; seed++)
        check_program(moved_seed(seed));
}

} // namespace

#include CASES
