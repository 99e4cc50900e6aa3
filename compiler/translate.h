// SPDX-License-Identifier: BSD-3-Clause
//
// The compiler proper: preprocessed Split-C in, C out.
#pragma once

#include <string>

namespace splitcc {

struct TranslateOptions {
    bool color = false;
    bool quiet = false;               // -w
    bool warnings_are_errors = false; // -Werror
    unsigned error_limit = 20;
    bool c89_keywords = false; // -std=c89: no inline, typeof, asm
};

struct Translation {
    std::string c;           // empty when there are errors
    std::string diagnostics; // to be printed
    bool ok = false;
};

Translation translate(std::string preprocessed, const TranslateOptions &options);

} // namespace splitcc
