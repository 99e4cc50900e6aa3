// SPDX-License-Identifier: BSD-3-Clause
//
// String literals that run over line ends.  Compilers of the 1990s took them;
// today's preprocessor warns, and treats what follows the first line as tokens.
// So where its output shows such a string in the main file, the source is
// rewritten with \n and continued lines, and preprocessed again.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace splitcc {

// Lines (from 1) of `file` on which a string literal begins that does not end there,
// by the look of the preprocessed text.
std::set<uint32_t> broken_string_lines(const std::string &preprocessed, std::string_view file);

// The same by the look of the source itself, comments apart.  Text that the
// preprocessor skips may deceive it, so it is asked only where preprocessing fails.
std::set<uint32_t> suspect_string_lines(std::string_view source);

// The source with the strings that begin on those lines continued properly.  The
// number of lines stays the same.
std::string join_broken_strings(std::string_view source, const std::set<uint32_t> &lines);

} // namespace splitcc
