// SPDX-License-Identifier: BSD-3-Clause
//
// random_splitc SEED          prints the random program of that seed
// random_splitc SEED PROCS    prints what it has to print on so many processors
// random_splitc --no-teams SEED   prints one without teams
#include "program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

int main(int argc, char **argv)
{
    const bool teams = argc < 2 || std::strcmp(argv[1], "--no-teams") != 0;
    if (!teams) {
        argv++;
        argc--;
    }
    if (argc != 2 && argc != 3) {
        std::fputs("usage: random_splitc [--no-teams] SEED [PROCS]\n", stderr);
        return 2;
    }
    try {
        auto program = random_program::generate(std::strtoul(argv[1], nullptr, 10), teams);
        std::fputs(argc == 2 ? text_of(program).c_str()
                             : model_output(program, std::atoi(argv[2])).c_str(),
                   stdout);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "random_splitc: %s\n", error.what());
        return 1;
    }
    return 0;
}
