// SPDX-License-Identifier: BSD-3-Clause
//
// splitc_run.h - run the built Split-C programs under the built launcher.
#ifndef TESTS_SPLITC_RUN_H
#define TESTS_SPLITC_RUN_H

#include "process.h"

#include <cstdint>

// The paths of what was built.
std::string launcher();
std::string compiler();
std::string benchmark(const std::string &name);

// `unetrun -n RANKS PROGRAM ARGUMENTS...`
Command ranks(int count, const std::string &program, const std::vector<std::string> &arguments);

using Keys = std::vector<std::uint32_t>;

void write_file(const std::string &name, const std::string &bytes);
std::string read_file(const std::string &name); // as far as it can be read
void write_keys(const std::string &name, const Keys &keys);
Keys read_keys(const std::string &name);

#endif
