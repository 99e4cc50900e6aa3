// SPDX-License-Identifier: BSD-3-Clause
#include "driver/broken_strings.h"

#include <algorithm>
#include <array>
#include <vector>

#include "source/source.h"
#include "source/spelling.h"

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

struct BrokenStrings {
    std::vector<size_t> quotes; // where those begin that do not end on their line
    long oddity = 0;            // the newlines in them, and a point for each that text follows, as
                                // it does where a quote is taken for the end that is a beginning
    bool open = false;          // nothing ends the last one
};

// Finds the broken strings in text from the preprocessor.  The one at `ended` ends with its line.
BrokenStrings broken_strings(std::string_view text, size_t ended)
{
    BrokenStrings found;
    for (size_t at = 0; at < text.size();) {
        const size_t end = line_end(text, at);
        const size_t quote = text[at] == '#' ? text.npos : unclosed_quote(text, at, end);
        at = end + 1;
        if (quote == text.npos || quote == ended)
            continue;
        const size_t close = closing_quote(text, quote + 1, text.size(), '"');
        found.quotes.push_back(quote);
        found.oddity += std::count(text.begin() + static_cast<long>(quote),
                                   text.begin() + static_cast<long>(close), '\n');
        found.open = close == text.size();
        const char next = close + 1 < text.size() ? text[close + 1] : '\0';
        found.oddity += is_word_char(next) || next == '%' || next == '\\';
        at = close + 1;
    }
    return found;
}

} // namespace

std::set<uint32_t> broken_string_lines(const std::string &preprocessed, std::string_view file)
{
    std::set<uint32_t> lines;
    const std::vector<size_t> quotes = broken_strings(preprocessed, preprocessed.npos).quotes;
    if (quotes.empty()) // as in most texts, which need no Source then
        return lines;
    Source source(preprocessed);
    for (size_t quote : quotes)
        if (Position position = source.position(static_cast<uint32_t>(quote));
            position.file == file)
            lines.insert(position.line);
    return lines;
}

size_t forgotten_quote(std::string_view preprocessed)
{
    constexpr size_t kMost = 100; // so many are tried
    const BrokenStrings all = broken_strings(preprocessed, preprocessed.npos);
    if (!all.open)
        return preprocessed.npos;
    size_t best = all.quotes.back();
    long least = all.oddity;
    for (size_t i = 0; i < all.quotes.size() && i < kMost; i++) {
        const BrokenStrings rest = broken_strings(preprocessed, all.quotes[i]);
        if (!rest.open && rest.oddity < least) {
            least = rest.oddity;
            best = all.quotes[i];
        }
    }
    return best;
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
        if (inside && joined.ends_with('\r')) // one without a newline would be text, and end a line
            joined.pop_back();
        if (inside)
            joined += joined.ends_with('\\') ? "" : "\\n\\";
        if (end < source.size())
            joined += '\n';
        at = end + 1;
    }
    return joined;
}

} // namespace splitcc
