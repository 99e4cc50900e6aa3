// SPDX-License-Identifier: BSD-3-Clause
//
// The folder driver/ is what surrounds the compiler proper: the command line, and the commands of
// each stage, which run the C compiler.  It calls translate() and knows nothing of tokens or trees;
// of the passes it includes source/ and diag/ alone.
#pragma once

#include <string>
#include <vector>

namespace splitcc {

// Runs splitcc and returns its exit code.
int drive(std::vector<std::string> arguments);

} // namespace splitcc
