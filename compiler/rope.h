// SPDX-License-Identifier: BSD-3-Clause
//
// Output text in the making: new text between ranges of the source's tokens,
// which the emitter copies byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace splitcc {

struct Piece {
    enum Kind : uint8_t {
        Text,
        Tokens, // the source from token `first` up to, not including, `last`
        Gap,    // what stands before token `first`: space, line ends, pragmas
        Skip,   // what came since the gap of `first` stood for tokens up to, not including, `last`
    } kind;
    uint32_t first = 0, last = 0;
    std::string text;
};

class Rope {
public:
    Rope() = default;
    Rope(std::string_view text) { *this += text; } // NOLINT: text is a rope
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
    Rope &operator+=(Rope other)
    {
        for (Piece &piece : other.pieces_) {
            bool joined = !pieces_.empty() && piece.kind == Piece::Tokens &&
                          pieces_.back().kind == Piece::Tokens &&
                          pieces_.back().last == piece.first;
            if (joined)
                pieces_.back().last = piece.last;
            else if (piece.kind == Piece::Text)
                *this += piece.text;
            else
                pieces_.push_back(std::move(piece));
        }
        return *this;
    }
    Rope &operator+=(const char *text) { return *this += std::string_view(text); }
    Rope &operator+=(const std::string &text) { return *this += std::string_view(text); }

    bool empty() const { return pieces_.empty(); }
    const std::vector<Piece> &pieces() const { return pieces_; }

private:
    std::vector<Piece> pieces_;
};

inline Rope operator+(Rope a, Rope b)
{
    a += std::move(b);
    return a;
}

} // namespace splitcc
