// SPDX-License-Identifier: BSD-3-Clause
#include "diag/locate.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <fstream>
#include <span>

#include "source/spelling.h"

namespace splitcc {
namespace {

// Returns the end of the literal that begins at `i`.
size_t literal_end(std::string_view text, size_t i)
{
    const char quote = text[i++];
    while (i < text.size() && text[i] != quote)
        i += text[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text.size());
}

size_t piece_end(std::string_view text, size_t i)
{
    if (text[i] == '"' || text[i] == '\'')
        return literal_end(text, i);
    auto letter = [&](size_t at) { return is_word_char(text[at]) || is_universal(text, at); };
    size_t end = i + 1;
    while (letter(i) && end < text.size() && letter(end))
        end++;
    return end;
}

// Returns the end of the comment that begins at `i`, or `i` if none does.
size_t comment_end(std::string_view text, size_t i)
{
    std::string_view two = text.substr(i, 2);
    if (two != "/*" && two != "//")
        return i;
    size_t end = two == "/*" ? text.find("*/", i + 2) : text.find('\n', i);
    return end == std::string_view::npos ? text.size() : end + (two == "/*" ? 2 : 0);
}

// Returns the position of the first quote that no backslash precedes; the text's size if there is
// none.
size_t closing_quote(std::string_view text)
{
    size_t i = 0;
    while (i < text.size() && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return std::min(i, text.size());
}

// Returns a string over several lines as the preprocessor got it (see driver/broken_strings.h).
std::string joined(std::string_view string)
{
    std::string text;
    for (char c : string)
        if (c != '\n')
            text += c;
        else if (text.ends_with('\\'))
            text.pop_back();
        else
            text += "\\n";
    return text;
}

// Returns the comment as a block comment on one line.  Line ends and "*/" inside are replaced by a
// form feed, which the C compiler does not take for a part of "fall through".
std::string block_comment(std::string_view comment)
{
    constexpr char kOdd = '\f';
    const bool to_line_end = comment.starts_with("//");
    std::string text(comment);
    std::replace(text.begin(), text.end(), '\n', kOdd);
    if (!to_line_end)
        return " " + text;
    for (size_t at = 2; (at = text.find("*/", at)) != std::string::npos;)
        text[at] = kOdd;
    return " /*" + text.substr(2) + "*/";
}

// The longest common subsequence of two lists and, of several that are as long, the one with most
// pieces behind one another in both: what the user wrote stands together, while single brackets and
// semicolons of an expansion are as good as those of the user.
class Alignment {
public:
    using Texts = std::span<const std::string_view>;

    // `after_match`: what stands in front of the lists matches; `before_match`: what follows them.
    Alignment(Texts a, Texts b, bool after_match, bool before_match)
        : a_(a), b_(b), after_match_(after_match), best_((a.size() + 1) * (b.size() + 1) * 2)
    {
        best(a.size(), b.size(), true) = before_match;
        for (size_t i = a.size(); i-- > 0;)
            for (size_t j = b.size(); j-- > 0;)
                for (bool adjacent : {false, true})
                    best(i, j, adjacent) = std::max(matched(i, j, adjacent), skipped(i, j));
    }

    // Calls `match(i, j)` for each pair.
    template <typename Match> void each(Match match)
    {
        bool adjacent = after_match_;
        for (size_t i = 0, j = 0; i < a_.size() && j < b_.size();) {
            const bool taken =
                matched(i, j, adjacent) > 0 && matched(i, j, adjacent) >= skipped(i, j);
            if (taken)
                match(i++, j++);
            else if (best(i + 1, j, false) >= best(i, j + 1, false))
                i++;
            else
                j++;
            adjacent = taken;
        }
    }

private:
    static constexpr uint32_t kMatch = 1 << 16; // more than all pieces that stand together

    uint32_t &best(size_t i, size_t j, bool adjacent)
    {
        return best_[(i * (b_.size() + 1) + j) * 2 + adjacent];
    }
    uint32_t matched(size_t i, size_t j, bool adjacent)
    {
        return a_[i] == b_[j] ? kMatch + adjacent + best(i + 1, j + 1, true) : 0;
    }
    uint32_t skipped(size_t i, size_t j)
    {
        return std::max(best(i + 1, j, false), best(i, j + 1, false));
    }

    Texts a_, b_;
    bool after_match_;
    std::vector<uint32_t> best_; // of the rest from each pair of places on
};

} // namespace

// Splits a text, from `at` on, into words, literals and single punctuation characters.
std::vector<Locator::Piece> Locator::pieces(std::string_view text, size_t at, bool comments)
{
    std::vector<Piece> list;
    for (size_t i = at; i < text.size();) {
        size_t after = comments ? comment_end(text, i) : i;
        if (after > i) {
            i = after;
        } else if (std::isspace(static_cast<unsigned char>(text[i])) ||
                   (comments && text.substr(i, 2) == "\\\n")) {
            i++;
        } else {
            size_t end = piece_end(text, i);
            list.push_back({i, end - i});
            i = end;
        }
    }
    return list;
}

const std::vector<std::string> &Locator::file(std::string_view name)
{
    auto [entry, fresh] = files_.try_emplace(std::string(name));
    if (fresh) {
        std::ifstream in{entry->first};
        for (std::string line; std::getline(in, line);) {
            if (line.ends_with('\r')) // the preprocessor takes the CR for a part of the line end
                line.pop_back();
            entry->second.push_back(std::move(line));
        }
    }
    return entry->second;
}

// Matches the common ends of the two lists, and aligns what is between them.
void Locator::match(const std::vector<std::string_view> &a, const std::vector<std::string_view> &b)
{
    size_t head = 0, tail = 0;
    while (head < a.size() && head < b.size() && a[head] == b[head])
        head++;
    while (tail < a.size() - head && tail < b.size() - head &&
           a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
        tail++;
    matches_.assign(a.size(), SIZE_MAX);
    for (size_t i = 0; i < head; i++)
        matches_[i] = i;
    for (size_t i = 1; i <= tail; i++)
        matches_[a.size() - i] = b.size() - i;
    const size_t n = a.size() - head - tail, m = b.size() - head - tail;
    if (n * m > size_t{1} << 20) // the table would be too large; the common ends have to do
        return;
    Alignment(std::span(a).subspan(head, n), std::span(b).subspan(head, m), head > 0, tail > 0)
        .each([&](size_t i, size_t j) { matches_[head + i] = head + j; });
    repeat(a, b);
}

// Matches the further uses of a macro argument that occurs several times in the expansion.  The
// first match is taken by one of them; the others get the same word, either the next one in the
// user's text or the one before, whichever is nearer.
void Locator::repeat(const std::vector<std::string_view> &a, const std::vector<std::string_view> &b)
{
    std::map<std::string_view, std::vector<size_t>> words;
    for (size_t j = 0; j < b.size(); j++)
        if (is_word_char(b[j].front()))
            words[b[j]].push_back(j);
    std::vector<size_t> next(a.size() + 1, b.size()); // the matches of the pieces that follow
    for (size_t i = a.size(); i-- > 0;)
        next[i] = matches_[i] != SIZE_MAX ? matches_[i] : next[i + 1];
    size_t last = 0;
    for (size_t i = 0; i < a.size(); i++) {
        auto found = words.find(a[i]);
        if (matches_[i] != SIZE_MAX) {
            last = matches_[i];
        } else if (found != words.end()) {
            const std::vector<size_t> &at = found->second;
            auto after = std::lower_bound(at.begin(), at.end(), last);
            bool near = after != at.end() && (after == at.begin() || *after <= next[i] ||
                                              *after - last <= last - *(after - 1));
            matches_[i] = near ? *after : *(after - 1);
        }
    }
}

bool Locator::shows(uint32_t physical_line, const Position &at) const
{
    const Position here = source_.position(source_.line_start(physical_line));
    return here.line == at.line && here.file == at.file;
}

// Puts together what the preprocessor made of the user's line.  Where a macro of a system header
// stands in one of the user's, markers cut that into several physical lines.
void Locator::gather(uint32_t physical_line, const Position &at)
{
    auto is_marker = [&](uint32_t line) { // but none where a file begins or ends
        std::string_view text = source_.physical_text(line);
        std::string_view flags = text.substr(std::min(text.rfind('"'), text.size()));
        return text.starts_with('#') && !flags.starts_with("\" 1") && !flags.starts_with("\" 2");
    };
    uint32_t first = physical_line;
    for (uint32_t line = first; line-- > 0 && (is_marker(line) || shows(line, at));)
        first = is_marker(line) ? first : line;
    parts_.clear();
    shown_.clear();
    for (uint32_t line = first; line < source_.physical_lines(); line++) {
        if (is_marker(line) && line != physical_line)
            continue;
        if (!shows(line, at))
            break;
        shown_ += parts_.empty() ? "" : " ";
        parts_.push_back({line, source_.line_start(line), shown_.size()});
        shown_ += source_.physical_text(line);
    }
}

// Returns where in `shown_` a byte of the preprocessed text is.
size_t Locator::column_of(uint32_t offset) const
{
    auto after = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                  [](uint32_t at, const Part &p) { return at < p.start; });
    if (after == parts_.begin())
        return 0;
    const Part &part = *(after - 1);
    const size_t end = after == parts_.end() ? shown_.size() : after->column - 1;
    return std::min(part.column + (offset - part.start), end);
}

// Compares the preprocessed line with the user's line, unless it was the last one compared.
void Locator::compare(uint32_t physical_line, const Position &at)
{
    if (std::any_of(parts_.begin(), parts_.end(),
                    [&](const Part &p) { return p.physical_line == physical_line; }))
        return;
    gather(physical_line, at);
    const std::string_view preprocessed = shown_;
    const std::vector<std::string> &lines = file(at.file);
    user_ = at.line - 1 < lines.size() ? lines[at.line - 1] : shown_;
    same_ = user_ == preprocessed;
    if (same_)
        return;
    // The preprocessor joins the lines of macro arguments, of strings, and continued lines.
    constexpr size_t kMostLines = 100;
    auto open = [&] {
        return user_.ends_with('\\') || std::count(user_.begin(), user_.end(), '(') >
                                            std::count(user_.begin(), user_.end(), ')');
    };
    for (size_t i = at.line; i < lines.size() && i < at.line + kMostLines && open(); i++)
        user_ += "\n" + lines[i];
    pieces_ = pieces(preprocessed, 0, false);
    const size_t whole = match_from(preprocessed, 0), quote = closing_quote(user_);
    // A string that began on a line before may end on this one, which has the code behind it.
    if (whole < pieces_.size() && quote < user_.size() &&
        match_from(preprocessed, quote + 1) <= whole)
        match_from(preprocessed, 0);
}

// Compares what begins at `at` in the user's text; returns how many pieces match.
size_t Locator::match_from(std::string_view preprocessed, size_t at)
{
    user_pieces_ = pieces(user_, at, true);
    std::deque<std::string> other; // decoded names and joined strings, which the views point to
    auto texts = [&](std::string_view line, const std::vector<Piece> &pieces) {
        std::vector<std::string_view> list;
        for (Piece p : pieces) {
            list.push_back(line.substr(p.offset, p.length));
            std::string_view &text = list.back();
            if (is_word_char(text[0]) || is_universal(text, 0)) {
                if (text.find('\\') != std::string_view::npos)
                    text = other.emplace_back(decoded(text));
            } else if (text[0] == '"' && text.find('\n') != std::string_view::npos) {
                text = other.emplace_back(joined(text));
            }
        }
        return list;
    };
    match(texts(preprocessed, pieces_), texts(user_, user_pieces_));
    const auto odd = std::count(matches_.begin(), matches_.end(), SIZE_MAX);
    return pieces_.size() - static_cast<size_t>(odd);
}

// Returns the range of user pieces between the matches around `token`.
std::pair<size_t, size_t> Locator::gap_around(size_t token) const
{
    size_t before = token, after = token;
    while (before > 0 && matches_[before - 1] == SIZE_MAX)
        before--;
    const size_t first = before > 0 ? matches_[before - 1] + 1 : 0;
    // An argument that is used again may match the same word in front of the macro.
    while (after < matches_.size() && (matches_[after] == SIZE_MAX || matches_[after] < first))
        after++;
    return {first, after < matches_.size() ? matches_[after] : user_pieces_.size()};
}

// Returns the user piece that is the name of the macro which made `token`, or SIZE_MAX.
size_t Locator::macro_before(size_t token) const
{
    auto taken = [&](size_t piece) {
        return std::find(matches_.begin(), matches_.end(), piece) != matches_.end();
    };
    auto text = [&](size_t piece) {
        const Piece &p = user_pieces_[piece];
        return std::string_view(user_).substr(p.offset, p.length);
    };
    auto is_name = [&](size_t piece) {
        const char c = text(piece)[0];
        return is_word_char(c) && !std::isdigit(static_cast<unsigned char>(c)) && !taken(piece);
    };
    auto name_before = [&](size_t end) {
        while (end > 0 && !is_name(end - 1))
            end--;
        return end > 0 ? end - 1 : SIZE_MAX;
    };
    // What is a part of the token and of nothing else was pasted by the macro in front of it.
    const Piece of = pieces_.empty() ? Piece{0, 0} : pieces_[token];
    const std::string_view made = std::string_view(shown_).substr(of.offset, of.length);
    auto is_part = [&](size_t piece) {
        return made != text(piece) && made.find(text(piece)) != made.npos;
    };
    size_t part = 0;
    while (part < user_pieces_.size() && !(is_name(part) && is_part(part)))
        part++;
    if (const size_t macro = part < user_pieces_.size() ? name_before(part) : SIZE_MAX;
        macro != SIZE_MAX)
        return macro;
    auto [first, last] = gap_around(token);
    for (size_t i = first; i < last; i++)
        if (is_name(i))
            return i;
    return name_before(std::min(first, user_pieces_.size()));
}

// Returns where in user_ the byte at `column` of the preprocessed line stands, if anywhere.
std::optional<size_t> Locator::in_user_text(size_t column) const
{
    if (same_)
        return column;
    auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), column,
                                  [](size_t at, const Piece &p) { return at < p.offset; });
    if (piece == pieces_.begin())
        return {};
    size_t index = static_cast<size_t>(piece - pieces_.begin()) - 1;
    if (matches_[index] == SIZE_MAX)
        return {};
    size_t within = column - pieces_[index].offset;
    const Piece &user = user_pieces_[matches_[index]];
    return user.offset + std::min(within, user.length - 1);
}

// Returns the line and the columns of bytes [begin, end) of user_, which may hold several lines.
Located Locator::in_line(const Position &at, size_t begin, size_t end) const
{
    const size_t newline = begin > 0 ? user_.rfind('\n', begin - 1) : std::string::npos;
    const size_t line_begin = newline == std::string::npos ? 0 : newline + 1;
    const size_t line_end = std::min(user_.find('\n', begin), user_.size());
    const bool whole = end > begin && end <= line_end;
    if (!whole)
        end = begin + 1;
    const auto joined = std::count(user_.begin(), user_.begin() + static_cast<long>(begin), '\n');
    return {.position = {std::string(at.file), at.line + static_cast<uint32_t>(joined)},
            .span = {static_cast<uint32_t>(begin - line_begin + 1),
                     static_cast<uint32_t>(end - line_begin + 1)},
            .line = user_.substr(line_begin, line_end - line_begin),
            .whole = whole,
            .macro = {}};
}

// Returns the place of the macro whose expansion holds the byte at `column`.
Located Locator::in_expansion(const Position &at, size_t column) const
{
    auto after = std::upper_bound(pieces_.begin(), pieces_.end(), column,
                                  [](size_t c, const Piece &p) { return c < p.offset; });
    const size_t token = static_cast<size_t>(after - pieces_.begin());
    const size_t name = macro_before(token > 0 ? token - 1 : 0);
    if (name == SIZE_MAX) { // no macro made it: a string over several lines, or digraphs
        const size_t gap = token > 0 && token <= matches_.size() ? gap_around(token - 1).first : 0;
        const size_t begin = gap < user_pieces_.size()
                                 ? user_pieces_[gap].offset
                                 : std::min(user_.find_first_not_of(" \t"), user_.size());
        return in_line(at, begin, begin + 1);
    }
    const Piece &p = user_pieces_[name];
    Located located = in_line(at, p.offset, p.offset + p.length);
    located.macro = user_.substr(p.offset, p.length);
    return located;
}

Located Locator::locate(Range where)
{
    const auto size = static_cast<uint32_t>(source_.text().size());
    where.begin = std::min(where.begin, size);
    where.end = std::clamp(where.end, where.begin, size);
    const uint32_t physical = source_.physical_line(where.begin);
    const Position at = source_.position(where.begin);
    compare(physical, at);

    const size_t first = column_of(where.begin);
    const size_t last = std::max(column_of(where.end), first + 1);
    const std::optional<size_t> begin = in_user_text(first), end = in_user_text(last - 1);
    if (!begin)
        return in_expansion(at, first);
    return in_line(at, *begin, end ? *end + 1 : 0);
}

// Returns the text of the file between two places, or nothing if it is not there.
std::string Locator::text_between(const Located &from, const Located &to)
{
    const std::vector<std::string> &lines = file(from.position.file);
    std::string text;
    for (uint32_t line = from.position.line; line <= to.position.line; line++) {
        if (line > lines.size())
            return {};
        const std::string &all = lines[line - 1];
        const size_t begin = line == from.position.line ? from.span.end - 1 : 0;
        const size_t end = line == to.position.line ? to.span.begin - 1 : all.size();
        if (begin > end || end > all.size())
            return {};
        text.append(all, begin, end - begin).append("\n");
    }
    return text;
}

std::string Locator::comments_between(Range before, Range after)
{
    const Located from = locate(before), to = locate(after);
    if (from.position.file != to.position.file || !to.macro.empty())
        return {};
    const std::string text = text_between(from, to);
    std::string comments;
    for (size_t i = 0; i < text.size();) {
        const size_t end = comment_end(text, i);
        if (end > i)
            comments += block_comment(std::string_view(text).substr(i, end - i));
        else if (!std::isspace(static_cast<unsigned char>(text[i])))
            comments.clear();
        i = end > i ? end : piece_end(text, i);
    }
    return comments;
}

} // namespace splitcc
