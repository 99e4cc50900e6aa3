// SPDX-License-Identifier: BSD-3-Clause
//
// Output text under construction: new text between ranges of source tokens, which the emitter
// copies byte by byte.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>

namespace splitcc {

struct Piece {
    enum Kind : uint8_t {
        Text,
        Tokens, // the source text from token `first` up to, not including, `last`
        Gap,    // the text before token `first`: space, line ends and pragmas
        // the output since the gap of `first` replaced the tokens up to, not including, `last`
        Skip,
    } kind;
    uint32_t first = 0, last = 0;
    std::string text;
};

class Rope {
public:
    Rope() = default;
    Rope(std::string_view text) { *this += text; } // NOLINT: the conversion is meant to be implicit
    Rope(const char *text) : Rope(std::string_view(text)) {}
    Rope(const std::string &text) : Rope(std::string_view(text)) {}

    static Rope tokens(uint32_t first, uint32_t last)
    {
        Rope rope;
        if (first < last)
            rope.pieces_.push_back({Piece::Tokens, first, last, {}});
        return rope;
    }
    static Rope gap(uint32_t token)
    {
        Rope rope;
        rope.pieces_.push_back({Piece::Gap, token, token, {}});
        return rope;
    }

    static Rope skip(uint32_t first, uint32_t last)
    {
        Rope rope;
        rope.pieces_.push_back({Piece::Skip, first, last, {}});
        return rope;
    }

    Rope &operator+=(std::string_view text)
    {
        if (!pieces_.empty() && pieces_.back().kind == Piece::Text)
            pieces_.back().text += text;
        else if (!text.empty())
            pieces_.push_back({Piece::Text, 0, 0, std::string(text)});
        return *this;
    }
    // Appending takes constant time, because deep trees are built from many short pieces.
    Rope &operator+=(Rope other)
    {
        if (!pieces_.empty() && !other.pieces_.empty() &&
            joined(pieces_.back(), other.pieces_.front()))
            other.pieces_.pop_front();
        pieces_.splice(pieces_.end(), other.pieces_);
        return *this;
    }
    Rope &operator+=(const char *text) { return *this += std::string_view(text); }
    Rope &operator+=(const std::string &text) { return *this += std::string_view(text); }

    bool empty() const { return pieces_.empty(); }
    const std::list<Piece> &pieces() const { return pieces_; }

private:
    // Merges the piece into the one before it, if they are adjacent.  Returns whether they were.
    static bool joined(Piece &before, const Piece &piece)
    {
        bool tokens = before.kind == Piece::Tokens && piece.kind == Piece::Tokens &&
                      before.last == piece.first;
        bool text = before.kind == Piece::Text && piece.kind == Piece::Text;
        if (tokens)
            before.last = piece.last;
        else if (text)
            before.text += piece.text;
        return tokens || text;
    }

    std::list<Piece> pieces_;
};

inline Rope operator+(Rope a, Rope b)
{
    a += std::move(b);
    return a;
}

} // namespace splitcc
