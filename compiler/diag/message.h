// SPDX-License-Identifier: BSD-3-Clause
//
// A message with all that is shown of it, and its two printed forms: text as gcc and clang print
// it, and gcc's JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace splitcc {

enum class Severity { Note, Warning, Error, Fatal };

// Columns of one line, counted in bytes from 1; `end` is the column after the last.
struct Span {
    uint32_t begin = 0;
    uint32_t end = 0;
};

struct FixIt {
    Span where; // an empty span: the text is inserted in front of it
    std::string text;
};

struct FilePosition {
    std::string file;
    uint32_t line = 0;
};

struct Message {
    Severity severity = Severity::Error;
    std::string text;
    std::string option; // -Wlocal-escape, for example; empty if no option controls the message
    FilePosition position;
    Span caret;       // begin is 0 if the place is the whole line, or no line
    std::string line; // the text of the line
    std::vector<FixIt> fixes;
    std::vector<FilePosition> included_from; // the innermost #include first
    std::vector<Message> notes;
};

// A JSON string, and a member of an object.
std::string json_quoted(std::string_view text);
std::string json_number(std::string_view key, uint32_t value);

std::string render_text(const std::vector<Message> &messages, bool color);

// Returns one JSON array in the format of gcc 12's -fdiagnostics-format=json.
std::string render_json(const std::vector<Message> &messages);

} // namespace splitcc
