// SPDX-License-Identifier: BSD-3-Clause
#include "diag.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace splitcc {
namespace {

constexpr std::string_view kBold = "\033[1m", kRed = "\033[1;31m", kMagenta = "\033[1;35m",
                           kCyan = "\033[1;36m", kGreen = "\033[1;32m", kReset = "\033[0m";

// One line of a file of the user's, or nothing when it cannot be read.
std::string file_line(std::string_view file, uint32_t line)
{
    std::ifstream in{std::string(file)};
    std::string text;
    for (uint32_t i = 0; i < line; i++)
        if (!std::getline(in, text))
            return {};
    return text;
}

bool word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Where `spelling` stands in `line` as a whole word, at or after `from`.
size_t find_token(std::string_view line, std::string_view spelling, size_t from)
{
    for (size_t at = line.find(spelling, from); at != std::string_view::npos;
         at = line.find(spelling, at + 1)) {
        size_t end = at + spelling.size();
        bool left = at == 0 || !word(line[at - 1]) || !word(spelling.front());
        bool right = end >= line.size() || !word(line[end]) || !word(spelling.back());
        if (left && right)
            return at;
    }
    return std::string_view::npos;
}

// Macro expansion moves columns.  The token is the k-th of its spelling in the
// preprocessed line; take the k-th in the user's line, or failing that the last.
size_t column_in_user_line(std::string_view user, std::string_view preprocessed, size_t column,
                           std::string_view spelling)
{
    if (user.substr(0, column + spelling.size()) ==
        preprocessed.substr(0, column + spelling.size()))
        return column;
    size_t at = find_token(user, spelling, 0);
    for (size_t p = find_token(preprocessed, spelling, 0); p < column;
         p = find_token(preprocessed, spelling, p + 1)) {
        size_t next = at == std::string_view::npos ? at : find_token(user, spelling, at + 1);
        if (next == std::string_view::npos)
            break;
        at = next;
    }
    if (at != std::string_view::npos)
        return at;
    return std::min(user.find_first_not_of(" \t"), user.size());
}

} // namespace

void Diagnostics::error(Range where, std::string_view message)
{
    if (too_many())
        return;
    errors_++;
    report(Severity::Error, where, message);
    if (too_many())
        text_ += "splitcc: too many errors; the rest is not shown\n";
}

void Diagnostics::warning(Range where, std::string_view option, std::string_view message)
{
    if (quiet_ || too_many() || source_.position(where.begin).system)
        return;
    std::string text(message);
    text += " [";
    text += option;
    text += "]";
    if (werror_)
        error(where, text);
    else
        report(Severity::Warning, where, text);
}

void Diagnostics::note(Range where, std::string_view message)
{
    if (!quiet_ && !too_many())
        report(Severity::Note, where, message);
}

void Diagnostics::report(Severity severity, Range where, std::string_view message)
{
    static constexpr std::string_view names[] = {"note", "warning", "error"};
    static constexpr std::string_view colors[] = {kCyan, kMagenta, kRed};

    const std::string &all = source_.text();
    where.begin = std::min<uint32_t>(where.begin, static_cast<uint32_t>(all.size()));
    where.end = std::clamp<uint32_t>(where.end, where.begin, static_cast<uint32_t>(all.size()));
    Position at = source_.position(where.begin);
    uint32_t physical = source_.physical_line(where.begin);
    std::string_view preprocessed = source_.physical_text(physical);
    size_t column = at.column - 1;
    // The first word of the range is what the caret looks for.
    std::string_view spelling = preprocessed.substr(std::min(column, preprocessed.size()));
    size_t length = 0;
    while (length < spelling.size() && word(spelling[length]))
        length++;
    spelling = spelling.substr(0, std::max<size_t>(length, spelling.empty() ? 0 : 1));

    std::string line = file_line(at.file, at.line);
    size_t shown = column;
    if (line.empty())
        line = preprocessed;
    else if (!spelling.empty())
        shown = column_in_user_line(line, preprocessed, column, spelling);

    auto paint = [&](std::string_view code) { return color_ ? code : std::string_view(); };
    auto &out = text_;
    out.append(paint(kBold)).append(at.file).append(":").append(std::to_string(at.line));
    out.append(":").append(std::to_string(shown + 1)).append(": ");
    out.append(paint(colors[static_cast<int>(severity)]));
    out.append(names[static_cast<int>(severity)]).append(": ").append(paint(kReset));
    out.append(paint(kBold)).append(message).append(paint(kReset)).append("\n");

    std::string number = std::to_string(at.line);
    out.append("  ").append(number).append(" | ").append(line).append("\n");
    out.append(2 + number.size(), ' ').append(" | ");
    for (size_t i = 0; i < shown && i < line.size(); i++)
        out += line[i] == '\t' ? '\t' : ' ';
    out.append(paint(kGreen)).append("^");
    uint32_t line_end = source_.line_start(physical) + static_cast<uint32_t>(preprocessed.size());
    size_t tail = std::min(where.end, line_end) - std::min(where.begin, line_end);
    // A range that the user's line does not show as it is gets the caret alone.
    if (tail > 1 &&
        line.substr(std::min(shown, line.size()), tail) == all.substr(where.begin, tail))
        out.append(tail - 1, '~');
    out.append(paint(kReset)).append("\n");
}

} // namespace splitcc
