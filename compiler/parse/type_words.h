// SPDX-License-Identifier: BSD-3-Clause
//
// The words of a basic type, which may come in any order: unsigned long int.
#pragma once

#include <optional>
#include <vector>

#include "ast/type.h"

namespace splitcc {

struct TypeWords {
    const Type *named = nullptr; // a typedef name, struct, enum or typeof
    uint8_t quals = 0;
    std::vector<uint32_t> restricts; // the tokens `restrict`
    bool complex = false;
    int longs = 0, shorts = 0, signs = 0, unsigns = 0, ints = 0;
    Tok core = Tok::End; // void, char, float, double, _Bool, __int128

    bool any() const
    {
        return named || complex || longs || shorts || signs || unsigns || ints || core != Tok::End;
    }

    // Returns whether the token is a word of a basic type.
    static bool is_word(Tok kind) { return TypeWords().add(kind); }

    // Adds one word.  Returns false if the token is no such word, or comes once too often.
    bool add(Tok kind)
    {
        switch (kind) {
        case Tok::KwLong:
            return ++longs <= 2;
        case Tok::KwShort:
            return ++shorts <= 1;
        case Tok::KwSigned:
            return ++signs <= 1;
        case Tok::KwUnsigned:
            return ++unsigns <= 1;
        case Tok::KwInt:
            return ++ints <= 1;
        case Tok::KwComplex:
            return complex = true;
        case Tok::KwVoid:
        case Tok::KwChar:
        case Tok::KwFloat:
        case Tok::KwDouble:
        case Tok::KwBool:
        case Tok::KwInt128:
            if (core != Tok::End)
                return false;
            core = kind;
            return true;
        default:
            return false;
        }
    }

    // Returns the type that the words name: int if there are none (implicit int), and nothing if
    // they contradict each other.
    std::optional<TypeKind> kind() const
    {
        bool u = unsigns > 0;
        if ((u && signs) || (longs && shorts) || longs > 2)
            return {};
        switch (core) {
        case Tok::KwVoid:
            return TypeKind::Void;
        case Tok::KwBool:
            return TypeKind::Bool;
        case Tok::KwFloat:
            return TypeKind::Float;
        case Tok::KwDouble:
            return longs ? TypeKind::LDouble : TypeKind::Double;
        case Tok::KwInt128:
            return u ? TypeKind::UInt128 : TypeKind::Int128;
        case Tok::KwChar:
            return u ? TypeKind::UChar : signs ? TypeKind::SChar : TypeKind::Char;
        default:
            break;
        }
        if (shorts)
            return u ? TypeKind::UShort : TypeKind::Short;
        if (longs == 2)
            return u ? TypeKind::ULLong : TypeKind::LLong;
        if (longs == 1)
            return u ? TypeKind::ULong : TypeKind::Long;
        return u ? TypeKind::UInt : TypeKind::Int;
    }
};

} // namespace splitcc
