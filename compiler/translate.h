// SPDX-License-Identifier: BSD-3-Clause
//
// The compiler proper: preprocessed Split-C in, C out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diag/message.h"
#include "diag/warnings.h"
#include "emit/origins.h"
#include "source/source.h"

namespace splitcc {

struct TranslateOptions {
    WarningOptions warnings;
    unsigned error_limit = 20;
    std::vector<std::string_view> names; // keywords elsewhere, but not under this -std
    bool checks = false;                 // -fcheck
    bool profile = false;                // -fprofile-lines
    bool large_stack = false;            // the program wants one
    bool comments_at_labels = false;     // the C compiler looks for some that mean something
    bool gnu89 = false; // `extern inline` defines nothing for the linker; casts may be assigned to
};

struct Translation {
    std::string c; // empty when there are errors
    std::vector<Message> messages;
    // The C compiler's messages count columns of the display unless told otherwise.
    bool display_columns = false;
    bool plain = false; // no Split-C construct in it: C as any other
    std::shared_ptr<const Source> source;
    Origins origins;       // where `c` comes from
    bool too_many = false; // errors: the rest was not looked for
    bool ok = false;
};

Translation translate(std::string preprocessed, const TranslateOptions &options);

} // namespace splitcc
