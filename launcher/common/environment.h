// SPDX-License-Identifier: BSD-3-Clause
//
// Environments as lists of NAME=VALUE: reading and changing them.
#pragma once

#include <string>
#include <vector>

namespace unetrun {

// The environment of this process.
std::vector<std::string> own_environment();

// The name in NAME=VALUE, or all of a text that has no '='.
std::string name_of(const std::string &variable);

// The value of a variable; empty if it is not set.
std::string value_of(const std::vector<std::string> &environment, const std::string &name);

bool has_variable(const std::vector<std::string> &environment, const std::string &name);

// Sets a variable, NAME=VALUE, in place of an earlier value.
void set_variable(std::vector<std::string> &environment, const std::string &variable);

} // namespace unetrun
