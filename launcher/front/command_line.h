// SPDX-License-Identifier: BSD-3-Clause
//
// Reading unetrun's command line.
#pragma once

#include <string>
#include <vector>

#include "front/options.h"

namespace unetrun {

// `arguments` do not begin with unetrun's own name.  What follows the program's name are arguments
// of the program.  Hosts that the user does not name are those that a batch system's variables in
// `environment` do.  Throws Failure (exit_usage).
Options parse_options(const std::vector<std::string> &arguments,
                      const std::vector<std::string> &environment = {});

// The number of ranks of a job on hosts with these slots.  Throws Failure (exit_usage).
std::uint32_t ranks_of(const Options &options, const std::vector<std::uint32_t> &slots);

// `inherited` (NAME=VALUE) changed as -x says.  Throws Failure (exit_usage).
std::vector<std::string> with_variables(std::vector<std::string> inherited,
                                        const std::vector<std::string> &variables);

} // namespace unetrun
