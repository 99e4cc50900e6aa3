// SPDX-License-Identifier: BSD-3-Clause
#include "diag/message.h"

#include <algorithm>
#include <string_view>

#include "diag/columns.h"

namespace splitcc {
std::string json_quoted(std::string_view text)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (char c : text) {
        auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out.append("\\").push_back(c);
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (byte < 0x20)
            out.append("\\u00").append({digits[byte >> 4], digits[byte & 15]});
        else
            out += c;
    }
    return out + "\"";
}

std::string json_number(std::string_view key, uint32_t value)
{
    return json_quoted(key) + ": " + std::to_string(value);
}

namespace {

constexpr std::string_view kBold = "\033[1m", kGreen = "\033[1;32m", kReset = "\033[0m";
constexpr std::string_view kNames[] = {"note", "warning", "error", "fatal error"};
constexpr std::string_view kColors[] = {"\033[1;36m", "\033[1;35m", "\033[1;31m", "\033[1;31m"};

// ---- the text form

class Text {
public:
    explicit Text(bool color) : color_(color) {}
    void message(const Message &m);
    std::string take() { return std::move(out_); }

private:
    std::string_view paint(std::string_view code) const { return color_ ? code : ""; }
    void includes(const Message &m);
    void source_line(const Message &m);
    void under_line(const Message &m, const std::string &marks);
    size_t begin_under(const Message &m, size_t to);

    bool color_;
    std::string out_;
    std::string last_file_; // the file of the previous message
};

// Prints "In file included from" unless the previous message was in the same file.
void Text::includes(const Message &m)
{
    if (m.position.file == last_file_)
        return;
    last_file_ = m.position.file;
    for (size_t i = 0; i < m.included_from.size(); i++) {
        const FilePosition &at = m.included_from[i];
        out_.append(i == 0 ? "In file included from " : "                 from ");
        out_.append(paint(kBold)).append(at.file).append(":").append(std::to_string(at.line));
        out_.append(paint(kReset)).append(i + 1 < m.included_from.size() ? ",\n" : ":\n");
    }
}

void Text::message(const Message &m)
{
    auto severity = static_cast<size_t>(m.severity);
    includes(m);
    out_.append(paint(kBold)).append(m.position.file);
    if (m.position.line)
        out_.append(":").append(std::to_string(m.position.line));
    if (m.caret.begin)
        out_.append(":").append(std::to_string(m.caret.begin));
    out_.append(": ").append(paint(kColors[severity])).append(kNames[severity]).append(": ");
    out_.append(paint(kReset)).append(paint(kBold)).append(m.text);
    if (!m.option.empty())
        out_.append(" [").append(m.option).append("]");
    out_.append(paint(kReset)).append("\n");
    if (m.caret.begin)
        source_line(m);
    for (const Message &note : m.notes)
        message(note);
}

// Returns the left margin of the source line and of the marks under it.
std::string margin(std::string_view number)
{
    return "  " + std::string(number) + " | ";
}

// Prints the marks under the line, each below the character of its byte.  Tabs before the marks
// stay tabs, so that they have the same width.
void Text::under_line(const Message &m, const std::string &marks)
{
    const size_t first = std::min(marks.find_first_not_of(' '), marks.size());
    size_t column = begin_under(m, first);
    for (size_t i = first; i < marks.size(); i++) {
        const unsigned width = i < m.line.size() ? display_width(m.line, i, column) : 1;
        if (width > 0 || marks[i] == '^')
            out_ += marks[i];
        if (width > 1)
            out_.append(width - 1, marks[i] == ' ' ? ' ' : '~');
        column += width;
    }
    out_.append(paint(kReset)).append("\n");
}

// Begins a line whose text stands below byte `to` of the source line.  Returns its column.
size_t Text::begin_under(const Message &m, size_t to)
{
    const std::string left = margin(std::string(std::to_string(m.position.line).size(), ' '));
    out_.append(left);
    size_t column = left.size();
    for (size_t i = 0; i < to; i++) {
        const bool tab = i < m.line.size() && m.line[i] == '\t';
        const unsigned width = i < m.line.size() ? display_width(m.line, i, column) : 1;
        out_.append(tab ? 1 : width, tab ? '\t' : ' ');
        column += width;
    }
    out_.append(paint(kGreen));
    return column;
}

void put_marks(std::string &marks, Span where, char mark)
{
    if (marks.size() + 1 < where.end)
        marks.resize(where.end - 1, ' ');
    for (uint32_t i = where.begin; i < where.end; i++)
        marks[i - 1] = mark;
}

void Text::source_line(const Message &m)
{
    out_.append(margin(std::to_string(m.position.line))).append(m.line).append("\n");
    std::string marks;
    put_marks(marks, m.caret, '~');
    put_marks(marks, {m.caret.begin, m.caret.begin + 1}, '^');
    under_line(m, marks);
    for (const FixIt &fix : m.fixes) {
        begin_under(m, fix.where.begin - 1);
        out_.append(fix.text).append(paint(kReset)).append("\n");
    }
}

// ---- the JSON form

class Json {
public:
    std::string array(const std::vector<Message> &messages);

private:
    std::string message(const Message &m);
    std::string place(const Message &m, uint32_t column);
    std::string location(const Message &m);
    std::string fix_it(const Message &m, const FixIt &fix);
};

// Converts a column in bytes to a column on the screen.
uint32_t display_column(const std::string &line, uint32_t column)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i + 1 < column; i++)
        shown += i < line.size() ? display_width(line, i, shown) : 1;
    return shown + 1;
}

std::string Json::place(const Message &m, uint32_t column)
{
    uint32_t shown = display_column(m.line, column);
    return "{\"file\": " + json_quoted(m.position.file) + ", " +
           json_number("line", m.position.line) + ", " + json_number("column", shown) + ", " +
           json_number("display-column", shown) + ", " + json_number("byte-column", column) + "}";
}

std::string Json::location(const Message &m)
{
    std::string text = "{\"caret\": " + place(m, m.caret.begin);
    if (m.caret.end > m.caret.begin + 1)
        text += ", \"finish\": " + place(m, m.caret.end - 1);
    return text + "}";
}

std::string Json::fix_it(const Message &m, const FixIt &fix)
{
    return "{\"start\": " + place(m, fix.where.begin) + ", \"next\": " + place(m, fix.where.end) +
           ", \"string\": " + json_quoted(fix.text) + "}";
}

std::string Json::message(const Message &m)
{
    std::string text = "{\"kind\": " + json_quoted(kNames[static_cast<size_t>(m.severity)]) +
                       ", \"message\": " + json_quoted(m.text);
    if (!m.option.empty())
        text += ", \"option\": " + json_quoted(m.option);
    text += ", \"column-origin\": 1, \"escape-source\": false, \"locations\": [";
    if (m.position.line)
        text += location(m);
    text += "]";
    for (size_t i = 0; i < m.fixes.size(); i++)
        text += (i == 0 ? ", \"fixits\": [" : ", ") + fix_it(m, m.fixes[i]);
    return text + (m.fixes.empty() ? "" : "]") + ", \"children\": " + array(m.notes) + "}";
}

std::string Json::array(const std::vector<Message> &messages)
{
    std::string text = "[";
    for (const Message &m : messages)
        text += (text.size() > 1 ? ", " : "") + message(m);
    return text + "]";
}

} // namespace

std::string render_text(const std::vector<Message> &messages, bool color)
{
    Text text(color);
    for (const Message &m : messages)
        text.message(m);
    return text.take();
}

std::string render_json(const std::vector<Message> &messages)
{
    return Json().array(messages) + "\n";
}

} // namespace splitcc
