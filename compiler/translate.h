// SPDX-License-Identifier: BSD-3-Clause
//
// The compiler proper: preprocessed Split-C in, C out.  translate.cc calls the passes one after the
// other: source, diag and lex; parse, which calls sema; lower; emit.  driver/ calls it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diag/message.h"
#include "diag/warnings.h"
#include "emit/origins.h"
#include "sema/index.h"
#include "source/source.h"

namespace splitcc {

struct TranslateOptions {
    WarningOptions warnings;
    unsigned error_limit = 20;
    std::vector<std::string_view> names; // keywords that are ordinary names under this -std
    bool checks = false;                 // -fcheck
    bool profile = false;                // -fprofile-lines
    bool large_stack = false;            // the program asks for a stack of 1 GiB
    // the C compiler looks for comments like "fall through" at labels
    bool comments_at_labels = false;
    // `extern inline` defines nothing for the linker, and casts may be assigned to
    bool gnu89 = false;
    bool implied_messages = false; // <split-c/am.h> is included though the source does not say so
    bool link_time = false;        // the C compiler generates code when it links
    std::string index; // the user's file, as line markers name it, for Translation::index
};

struct Translation {
    std::string c; // empty when there are errors
    std::vector<Message> messages;
    // Whether the C compiler counts columns of the screen unless it is told to count bytes.
    bool display_columns = false;
    bool plain = false; // the text has no Split-C construct
    std::shared_ptr<const Source> source;
    Origins origins;       // where `c` comes from
    bool too_many = false; // the error limit was reached and the rest was not translated
    bool ok = false;
    // Active messages are sent, and <split-c/am.h> is not included.
    bool wants_messages = false;
    std::set<std::string> objects; // the names of the program's own at file scope
    std::vector<IndexEntry> index; // what stands in the file that the options name
};

Translation translate(std::string preprocessed, const TranslateOptions &options);

} // namespace splitcc
