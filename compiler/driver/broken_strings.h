// SPDX-License-Identifier: BSD-3-Clause
//
// String literals that run over line ends.
//
// Compilers of the 1990s accepted them.  Today's preprocessor warns, and takes what follows the
// first line for tokens.  Therefore, if its output shows such a string in the main file, the source
// is rewritten with \n and continued lines, and preprocessed again.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace splitcc {

// Returns the lines (from 1) of `file` on which a string literal begins and does not end, judged by
// the preprocessed text.
std::set<uint32_t> broken_string_lines(const std::string &preprocessed, std::string_view file);

// Returns where the string begins whose end was forgotten: if nothing ends the last string of the
// preprocessed text, that one whose end on its own line leaves the fewest newlines in the other
// strings; npos otherwise.
size_t forgotten_quote(std::string_view preprocessed);

// Returns the lines as broken_string_lines() does, judged by the source without its comments.  Text
// that the preprocessor skips can mislead it, so it is used only if preprocessing has failed.
std::set<uint32_t> suspect_string_lines(std::string_view source);

// Returns the source with the strings that begin on those lines continued as C wants it.  The
// number of lines stays the same.
std::string join_broken_strings(std::string_view source, const std::set<uint32_t> &lines);

} // namespace splitcc
