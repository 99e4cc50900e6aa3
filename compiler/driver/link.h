// SPDX-License-Identifier: BSD-3-Clause
//
// Links objects, archives and libraries to a program.
#pragma once

#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/toolchain.h"

namespace splitcc {

// Returns what a program needs besides its objects, as options of the C compiler.
Command runtime_link_options(const Options &options, const Toolchain &tools,
                             const std::string &version_script);

// Returns the version script that hides a program's names from shared libraries.
std::string program_version_script(const Toolchain &tools);

int link(const Options &options, Toolchain &tools, std::vector<std::string> objects);

} // namespace splitcc
