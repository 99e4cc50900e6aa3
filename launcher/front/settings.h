// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks are told by variables, checked before any of them starts.
#pragma once

#include <string>
#include <vector>

namespace unetrun {

// Whether ranks will understand the value of a variable; others than theirs are not looked at.
// `told_by` is what the user wrote it with, an option or the variable.  Throws Failure
// (exit_usage).
void check_setting(const std::string &told_by, const std::string &variable,
                   const std::string &value);

// The same for all variables of an environment (NAME=VALUE).
void check_settings(const std::vector<std::string> &environment);

// The value of --net or --iface: how it is written and, for a job of this machine alone, that it is
// there.  Throw Failure (exit_usage).
void check_network(const std::string &network);
void check_interface(const std::string &interface);
void check_network_is_here(const std::string &place);

} // namespace unetrun
