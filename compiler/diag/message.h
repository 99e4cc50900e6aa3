// SPDX-License-Identifier: BSD-3-Clause
//
// A message to the user, all that is shown of it, and the two forms in which it
// is printed: text as gcc and clang have it, and gcc's JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace splitcc {

enum class Severity { Note, Warning, Error, Fatal };

// Columns of one line, from 1, in bytes; `end` is the one after the last.
struct Span {
    uint32_t begin = 0;
    uint32_t end = 0;
};

struct FixIt {
    Span where; // empty: text is inserted in front of it
    std::string text;
};

struct FilePosition {
    std::string file;
    uint32_t line = 0;
};

struct Message {
    Severity severity = Severity::Error;
    std::string text;
    std::string option; // -Wlocal-escape; empty for what no option controls
    FilePosition position;
    Span caret;               // column 0: the place is the whole line, or no line at all
    std::vector<Span> ranges; // of the same line
    std::string line;         // what stands there
    std::vector<FixIt> fixes;
    std::vector<FilePosition> included_from; // innermost first
    std::vector<Message> notes;
};

std::string render_text(const std::vector<Message> &messages, bool color);

// One array, as gcc 12 prints with -fdiagnostics-format=json.
std::string render_json(const std::vector<Message> &messages);

} // namespace splitcc
