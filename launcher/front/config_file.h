// SPDX-License-Identifier: BSD-3-Clause
//
// The file of programs that --configfile names.
#pragma once

#include <string>
#include <vector>

namespace unetrun {

struct ConfigLine {
    std::string where; // "FILE:LINE"
    std::vector<std::string> words;
};

// The lines that have words.  A backslash at the end of a line goes on with the next one; words
// are between blanks that are not within quotes; a line whose first character is '#' is a comment.
// Throws Failure (exit_usage).
std::vector<ConfigLine> config_lines(const std::string &file);

} // namespace unetrun
