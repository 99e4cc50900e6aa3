// SPDX-License-Identifier: BSD-3-Clause
//
// The files that --output sends the ranks' output to.
#pragma once

#include <string>
#include <vector>

#include "common/fd.h"
#include "common/protocol.h"

namespace unetrun {

// Throws Failure (exit_usage) unless each % of the pattern begins %r, %h or %%.
void check_output_pattern(const std::string &pattern);

// The file of each rank: in the pattern, %r stands for the rank, %h for the name of its host, %%
// for %.
std::vector<std::string> output_files(const std::string &pattern, const Job &job);

// Makes all of them empty.  Throws Failure, also for a FIFO that nobody reads.  Returns those that
// are FIFOs: whoever reads one sees its end when no writer has it open.
std::vector<Fd> create_output_files(const std::vector<std::string> &files);

// Opens the file, so that what is written is appended.  Never blocks; an errno.
int open_output_file(const std::string &file, Fd &opened);

} // namespace unetrun
