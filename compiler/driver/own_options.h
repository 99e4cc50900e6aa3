// SPDX-License-Identifier: BSD-3-Clause
//
// The options that splitcc itself takes, in one table: what they do, what --help says, and what
// completions and the manual are generated from.  All others go to the C compiler
// (command_line.cc).
#pragma once

#include <functional>
#include <string>

#include "driver/options.h"

namespace splitcc {

// What has been read of a command line.
struct Reading {
    Options options;
    std::string language; // of -x, for the inputs that follow; empty: their names tell
};

// Reads one of splitcc's options; `next` returns the word behind it.  Returns false if `word` is
// none.  Throws UsageError.
bool read_own_option(Reading &reading, const std::string &word,
                     const std::function<std::string()> &next);

// Returns splitcc's option, or warning, that `word` is probably a misspelling of; empty if there is
// none.  The C compiler may know the word all the same.
std::string similar_own_option(const std::string &word);

// A line, or more, of --help for each of them.
std::string own_options_help();

// What -print-options prints, for packaging/options.awk: a line for each of them,
//     option TAB its names, separated by blanks TAB its value TAB the line of --help TAB the rest
// where names with a value are followed by it directly if they end in '='; and one for each warning
// that has a name here,
//     word TAB -WNAME
std::string own_options_list();

} // namespace splitcc
