// SPDX-License-Identifier: BSD-3-Clause
//
// quoted.h - words of commands that are one text: paths may have blanks.
#ifndef TESTS_QUOTED_H
#define TESTS_QUOTED_H

#include <string>

// The word as a shell reads it, and unetrun in the texts of --rsh and --configfile.
inline std::string quoted(const std::string &word)
{
    std::string text = "'";

    for (const char c : word)
        text += c == '\'' ? "'\"'\"'" : std::string(1, c);
    return text + "'";
}

#endif
