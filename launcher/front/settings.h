// SPDX-License-Identifier: BSD-3-Clause
//
// Checks the variables by which ranks are configured, before any rank starts.
#pragma once

#include <string>
#include <vector>

namespace unetrun {

// Throws Failure (exit_usage) if ranks would refuse the value of a variable of theirs.  `told_by`
// is what the user has written: an option, or the variable.
void check_setting(const std::string &told_by, const std::string &variable,
                   const std::string &value);

// The same for all variables of an environment (NAME=VALUE).
void check_settings(const std::vector<std::string> &environment);

// A path as ranks find it that begin in another directory.  Throws Failure if the current one is
// gone.
std::string absolute_path(const std::string &path);

// Check the value of --net or --iface: how it is written and, if the job runs on this machine
// alone, that this machine has it.  Throw Failure (exit_usage).
void check_network(const std::string &network);
void check_interface(const std::string &interface);
void check_network_is_here(const std::string &place);

} // namespace unetrun
