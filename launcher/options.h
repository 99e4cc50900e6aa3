// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun's command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poller.h"
#include "protocol.h"

namespace unetrun {

constexpr std::uint32_t ranks_max = 65536; // what Split-C's global pointers can name

struct Options {
    enum class Action { run, help, version };

    Action action = Action::run;
    std::uint32_t ranks = 1;
    std::uint32_t nodes = 1;
    std::vector<std::string> variables; // of -x: NAME or NAME=VALUE
    std::string directory;              // empty: the current one
    bool tag_output = false;
    std::chrono::milliseconds timeout{0}; // 0: none
    BindTo bind_to = BindTo::automatic;
    bool verbose = false;
    std::vector<std::string> wrapper;   // a program and its arguments that run the ranks' one
    std::vector<std::uint32_t> wrapped; // those ranks; empty: all
    std::vector<std::string> command;   // the program and its arguments
};

// `arguments` without the name of unetrun itself.  Everything after the program's name is
// the program's.  Throws Failure (exit_usage).
Options parse_options(const std::vector<std::string> &arguments);

std::string help_text();

// `inherited` (NAME=VALUE) changed as -x says.  Throws Failure (exit_usage).
std::vector<std::string> with_variables(std::vector<std::string> inherited,
                                        const std::vector<std::string> &variables);

// The value of a variable in NAME=VALUE texts; empty if it is not there.
std::string value_of(const std::vector<std::string> &environment, const std::string &name);

} // namespace unetrun
