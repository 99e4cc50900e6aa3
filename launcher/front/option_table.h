// SPDX-License-Identifier: BSD-3-Clause
//
// The options of unetrun, one row each: what the command line means, what --help says, and what
// completions and the manual are generated from.
#pragma once

#include <span>
#include <string>

#include "front/options.h"

namespace unetrun {

struct Option {
    const char *name, *alias; // alias may be null
    const char *value;        // the name of its value, as texts show it; null: it has none
    // One line for --help; what follows it is for the manual alone.  `quoted` words are literal.
    const char *text;
    void (*apply)(Options &options, const std::string &value);
    bool of_program = false; // it may stand behind a ':', and holds for the program there
};

std::span<const Option> option_table();

// Throws Failure (exit_usage).
[[noreturn]] void refuse_usage(const std::string &text);

} // namespace unetrun
