// SPDX-License-Identifier: BSD-3-Clause
#include "emit/emit.h"

#include <algorithm>

#include "source/spelling.h"

namespace splitcc {
namespace {

class Emitter {
public:
    Emitter(const Source &source, Tokens &tokens, const Substitutions &substitutions,
            Origins &origins)
        : source_(source), tokens_(tokens), substitutions_(substitutions), origins_(origins)
    {
        out_.reserve(source.text().size() + source.text().size() / 8);
    }

    std::string run(const Rope &unit);

private:
    void text(std::string_view text);
    void before_gap(uint32_t token, std::string_view text);
    void construct_begins(uint32_t token);
    void construct_ends(uint32_t first, uint32_t last);
    void gap(uint32_t token);
    void tokens(uint32_t first, uint32_t last);
    void range(uint32_t first, uint32_t last);
    void copy(uint32_t first, uint32_t last);
    void copy_unbroken(uint32_t first, uint32_t last);
    void go_to_line(uint32_t line);

    const Source &source_;
    Tokens &tokens_;
    const Substitutions &substitutions_;
    std::string out_;
    uint32_t next_ = 0;                 // the source token that comes next
    uint32_t line_ = 0;                 // the physical line that the output has reached
    uint32_t gap_written_ = UINT32_MAX; // the token before which the gap has just been written

    // The constructs whose text is being written, each with the token that it begins with.
    struct Open {
        uint32_t token, construct;
    };
    Origins &origins_;
    std::vector<Open> open_;
};

// Brings the output to a physical line of the source, by newlines or by a line marker.
void Emitter::go_to_line(uint32_t line)
{
    if (line > line_ && line - line_ <= 4 && source_.same_region(line_, line))
        out_.append(line - line_, '\n');
    else if (line != line_)
        out_.append("\n").append(source_.marker(line)).append("\n");
    line_ = line;
}

// Writes the text before a token.  Where the output does not follow the order of the source, it
// writes a line marker instead, if one is needed.
void Emitter::gap(uint32_t token)
{
    if (gap_written_ == token)
        return;
    gap_written_ = token;
    uint32_t line = source_.physical_line(tokens_[token].offset);
    if (token == next_) {
        uint32_t from = token == 0 ? 0 : tokens_[token - 1].end();
        if (token > 0)
            go_to_line(source_.physical_line(from - 1));
        out_.append(source_.text(), from, tokens_[token].offset - from);
    } else if (line == line_) {
        out_ += ' ';
    } else {
        go_to_line(line);
        out_.append(tokens_[token].offset - source_.line_start(line), ' ');
    }
    line_ = line;
}

void Emitter::text(std::string_view text)
{
    // A space keeps new text apart from a word before it.
    if (!out_.empty() && !text.empty() && is_word_char(out_.back()) && is_word_char(text.front()))
        out_ += ' ';
    origins_.made(out_.size(), open_.empty() ? Origins::kNowhere : open_.back().construct);
    out_ += text;
}

void Emitter::construct_begins(uint32_t token)
{
    open_.push_back({token, origins_.construct(tokens_[token].offset)});
}

void Emitter::construct_ends(uint32_t first, uint32_t last)
{
    for (size_t i = open_.size(); i-- > 0;)
        if (open_[i].token == first) {
            origins_.ends(open_[i].construct, tokens_[last - 1].end());
            open_.resize(i);
            return;
        }
}

// Writes text before the gap of a token.  If the gap holds line markers or pragmas the text goes
// behind them, because it belongs to the lines that follow.
void Emitter::before_gap(uint32_t token, std::string_view what)
{
    const uint32_t from = tokens_[token - 1].end();
    const std::string_view between(source_.text().data() + from, tokens_[token].offset - from);
    if (between.find("\n#") != between.npos)
        gap(token);
    text(what);
}

// Writes a range of tokens, with the substitutions inside it.
void Emitter::tokens(uint32_t first, uint32_t last)
{
    auto next = substitutions_.lower_bound(first);
    for (; next != substitutions_.end() && next->first < last; ++next) {
        const auto &[at, substitution] = *next;
        if (at > first)
            range(first, at);
        first = substitution.last;
        if (substitution.place == Substitution::BeforeGap) {
            before_gap(at, substitution.text);
            continue;
        }
        gap(at);
        construct_begins(at);
        text(substitution.text);
        construct_ends(at, std::max(at + 1, substitution.last));
        if (at == substitution.last)
            out_ += ' ';
        else
            next_ = substitution.last;
    }
    if (first < last)
        range(first, last);
}

// Writes a range of tokens that has no substitutions inside.
void Emitter::range(uint32_t first, uint32_t last)
{
    gap(first);
    char before = out_.empty() ? ' ' : out_.back();
    if (tokens_[first].name && (before == '_' || std::isalnum(static_cast<unsigned char>(before))))
        out_ += ' ';
    copy(first, last);
    next_ = last;
    gap_written_ = UINT32_MAX;
    line_ = source_.physical_line(tokens_[last - 1].end() - 1);
}

// Copies the bytes of the tokens, and writes line ends inside a string as \n.
void Emitter::copy(uint32_t first, uint32_t last)
{
    const std::vector<uint32_t> &strings = tokens_.broken_strings();
    auto broken = std::lower_bound(strings.begin(), strings.end(), first);
    for (; broken != strings.end() && *broken < last; ++broken) {
        if (*broken > first)
            copy_unbroken(first, *broken);
        uint32_t from = *broken > first ? tokens_[*broken - 1].end() : tokens_[*broken].offset;
        out_.append(source_.text(), from, tokens_[*broken].offset - from);
        const Token token = tokens_[*broken];
        for (uint32_t i = token.offset; i < token.end(); i++) {
            char c = source_.text()[i];
            if (c == '\\' && i + 1 < token.end() && source_.text()[i + 1] == '\n') {
                i++; // the backslash continues the line
            } else if (c == '\n') {
                out_ += "\\n";
            } else {
                out_ += c;
            }
        }
        uint32_t line = source_.physical_line(token.end() - 1);
        out_.append("\n").append(source_.marker(line)).append("\n");
        first = *broken + 1;
        if (first < last) {
            uint32_t end = token.end();
            out_.append(source_.text(), end, tokens_[first].offset - end);
        }
    }
    if (first < last)
        copy_unbroken(first, last);
}

void Emitter::copy_unbroken(uint32_t first, uint32_t last)
{
    uint32_t from = tokens_[first].offset;
    origins_.copied(out_.size(), from);
    out_.append(source_.text(), from, tokens_[last - 1].end() - from);
}

std::string Emitter::run(const Rope &unit)
{
    for (const Piece &piece : unit.pieces()) {
        switch (piece.kind) {
        case Piece::Text:
            text(piece.text);
            break;
        case Piece::Gap:
            gap(piece.first);
            construct_begins(piece.first);
            break;
        case Piece::Skip:
            next_ = piece.last;
            construct_ends(piece.first, piece.last);
            break;
        case Piece::Tokens:
            tokens(piece.first, piece.last);
            break;
        }
    }
    const Token end = tokens_[tokens_.size() - 1];
    if (next_ + 1 == tokens_.size() && next_ > 0)
        out_.append(source_.text(), tokens_[next_ - 1].end(),
                    end.offset - tokens_[next_ - 1].end());
    if (!out_.empty() && out_.back() != '\n')
        out_ += '\n';
    return std::move(out_);
}

} // namespace

std::string emit(const Source &source, Tokens &tokens, const Rope &unit,
                 const Substitutions &substitutions, Origins &origins)
{
    return Emitter(source, tokens, substitutions, origins).run(unit);
}

} // namespace splitcc
