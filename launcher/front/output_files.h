// SPDX-License-Identifier: BSD-3-Clause
//
// The files that --output sends the ranks' output to.
#pragma once

#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// Throws Failure (exit_usage) unless each % of the pattern begins %r, %h or %%.
void check_output_pattern(const std::string &pattern);

// The file of each rank: in the pattern, %r stands for the rank, %h for the name of its host, %%
// for %.
std::vector<std::string> output_files(const std::string &pattern, const Job &job);

// Makes all of them empty.  Throws Failure.
void create_output_files(const std::vector<std::string> &files);

} // namespace unetrun
