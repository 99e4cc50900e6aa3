// SPDX-License-Identifier: BSD-3-Clause
//
// The driver: from the command line to the commands of each stage.
#pragma once

#include <string>
#include <vector>

namespace splitcc {

// Run splitcc; its exit code.
int drive(std::vector<std::string> arguments);

} // namespace splitcc
