// SPDX-License-Identifier: BSD-3-Clause
#include "driver/broken_strings.h"

#include <algorithm>
#include <array>

#include "source/source.h"

namespace splitcc {
namespace {

// Characters that may begin a comment, a string or a character constant.
constexpr auto kOpens = [] {
    std::array<bool, 256> opens = {};
    for (unsigned char c : {'/', '"', '\''})
        opens[c] = true;
    return opens;
}();

// Returns the end of the line that holds `at`: its newline, or the end of the text.
size_t line_end(std::string_view text, size_t at)
{
    size_t end = text.find('\n', at);
    return end == std::string_view::npos ? text.size() : end;
}

// Returns the position of the quote that closes the literal around `at`, or `end` if there is none
// before it.
size_t closing_quote(std::string_view text, size_t at, size_t end, char quote)
{
    while (at < end && text[at] != quote)
        at += text[at] == '\\' && at + 1 < end ? 2 : 1;
    return std::min(at, end);
}

// Returns where a string begins on this line that does not end on it; npos if none does.
size_t unclosed_quote(std::string_view text, size_t at, size_t end)
{
    while (at < end) {
        char c = text[at];
        size_t close = c == '"' || c == '\'' ? closing_quote(text, at + 1, end, c) : at;
        if (c == '"' && close == end)
            return at;
        at = close + 1;
    }
    return std::string_view::npos;
}

} // namespace

std::set<uint32_t> broken_string_lines(const std::string &preprocessed, std::string_view file)
{
    // In most texts no line ends inside a string, so this is checked first, without a Source.
    std::set<uint32_t> lines;
    std::string_view text(preprocessed);
    bool any = false;
    for (size_t at = 0; at < text.size() && !any; at = line_end(text, at) + 1)
        any = text[at] != '#' && unclosed_quote(text, at, line_end(text, at)) != text.npos;
    if (!any)
        return lines;

    Source source(preprocessed);
    for (size_t at = 0; at < text.size();) {
        size_t end = line_end(text, at);
        size_t open = text[at] == '#' ? text.npos : unclosed_quote(text, at, end);
        if (open == text.npos) {
            at = end + 1;
            continue;
        }
        Position position = source.position(static_cast<uint32_t>(open));
        if (position.file == file)
            lines.insert(position.line);
        // Go on behind the closing quote, which is on a later line.
        at = closing_quote(text, open + 1, text.size(), '"') + 1;
    }
    return lines;
}

std::set<uint32_t> suspect_string_lines(std::string_view source)
{
    std::set<uint32_t> lines;
    uint32_t line = 1;
    auto pass = [&](size_t from, size_t to) {
        for (size_t i = from; i < to && i < source.size(); i++)
            line += source[i] == '\n';
        return to;
    };
    for (size_t at = 0;;) {
        for (; at < source.size() && !kOpens[static_cast<unsigned char>(source[at])]; at++)
            line += source[at] == '\n';
        if (at >= source.size())
            break;
        const char c = source[at], next = at + 1 < source.size() ? source[at + 1] : '\0';
        if (c == '/' && next == '/') {
            at = line_end(source, at);
        } else if (c == '/' && next == '*') {
            size_t end = source.find("*/", at + 2);
            at = pass(at, end == source.npos ? source.size() : end + 2);
        } else if (c == '\'') {
            at = pass(at, closing_quote(source, at + 1, line_end(source, at), '\'') + 1);
        } else if (c == '"') {
            size_t end = closing_quote(source, at + 1, source.size(), '"') + 1;
            std::string_view literal = source.substr(at, end - at);
            for (size_t i = literal.find('\n'); i != literal.npos; i = literal.find('\n', i + 1))
                if (literal[i - 1] != '\\')
                    lines.insert(line);
            at = pass(at, end);
        } else {
            at++;
        }
    }
    return lines;
}

std::string join_broken_strings(std::string_view source, const std::set<uint32_t> &lines)
{
    std::string joined;
    uint32_t line = 1;
    bool inside = false;
    for (size_t at = 0; at < source.size(); line++) {
        size_t end = line_end(source, at);
        size_t from = at;
        if (inside) {
            size_t close = closing_quote(source, at, end, '"');
            inside = close == end;
            from = inside ? end : close + 1;
        }
        if (!inside && (lines.count(line) || from > at))
            inside = unclosed_quote(source, from, end) != source.npos;
        joined += source.substr(at, end - at);
        if (inside)
            joined += joined.ends_with('\\') ? "" : "\\n\\";
        if (end < source.size())
            joined += '\n';
        at = end + 1;
    }
    return joined;
}

} // namespace splitcc
