// SPDX-License-Identifier: BSD-3-Clause
//
// The lexer: preprocessed text to tokens.  `:=`, `:-` and `::` stay two tokens
// each, because only the parser can tell `*g :- 1` from `a ? b :-1`; it asks
// whether they touch.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/diag.h"
#include "source/source.h"

namespace splitcc {

enum class Tok : uint8_t {
    End,
    Ident,
    Number,
    Char,
    String,
    // punctuators
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Dot,
    Arrow,
    Inc,
    Dec,
    Amp,
    Star,
    Plus,
    Minus,
    Tilde,
    Bang,
    Slash,
    Percent,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    EqEq,
    NotEq,
    Caret,
    Pipe,
    AndAnd,
    OrOr,
    Question,
    Colon,
    Semi,
    Ellipsis,
    Comma,
    Assign,
    MulAssign,
    DivAssign,
    ModAssign,
    AddAssign,
    SubAssign,
    ShlAssign,
    ShrAssign,
    AndAssign,
    XorAssign,
    OrAssign,
    // keywords
    KwAuto,
    KwBreak,
    KwCase,
    KwChar,
    KwConst,
    KwContinue,
    KwDefault,
    KwDo,
    KwDouble,
    KwElse,
    KwEnum,
    KwExtern,
    KwFloat,
    KwFor,
    KwGoto,
    KwIf,
    KwInline,
    KwInt,
    KwLong,
    KwRegister,
    KwRestrict,
    KwReturn,
    KwShort,
    KwSigned,
    KwSizeof,
    KwStatic,
    KwStruct,
    KwSwitch,
    KwTypedef,
    KwUnion,
    KwUnsigned,
    KwVoid,
    KwVolatile,
    KwWhile,
    KwAlignas,
    KwAlignof,
    KwAtomic,
    KwBool,
    KwComplex,
    KwGeneric,
    KwNoreturn,
    KwStaticAssert,
    KwThreadLocal,
    KwAttribute,
    KwAsm,
    KwTypeof,
    KwExtension,
    KwLabel,
    KwReal,
    KwImag,
    KwAutoType,
    KwInt128,
    KwFloatN,
    KwVaArg,
    KwOffsetof,
    KwTypesCompatible,
    KwChooseExpr,
    KwConvertVector,
};

struct Symbol;

// An identifier, once for the whole translation unit, with what it means in
// the innermost scope at the moment.
struct Name {
    std::string_view text;
    Tok keyword = Tok::Ident;
    Symbol *ordinary = nullptr;
    Symbol *tag = nullptr;
};

struct Token {
    Tok kind = Tok::End;
    uint32_t offset = 0;
    uint32_t length = 0;
    Name *name = nullptr; // Ident and keywords

    uint32_t end() const { return offset + length; }
    Range range() const { return {offset, end()}; }
};

// Of short words, most of them alike at one end: FNV-1a.
struct WordHash {
    size_t operator()(std::string_view word) const
    {
        uint64_t hash = 0xcbf29ce484222325;
        for (char c : word)
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return hash ^ hash >> 32;
    }
};

// The names of a translation unit.
class Names {
public:
    Names();
    Name *intern(std::string_view text);
    // One that does not stand in the source as it is.
    Name *intern_decoded(std::string text);
    // Not every standard has restrict, typeof, ...: make them ordinary identifiers.
    void forget_keyword(std::string_view text);
    bool is_declared(std::string_view text) const;
    // The declared name or keyword that looks most like this one; empty if none is near.
    std::string similar_declared(const Name *name) const;

private:
    std::deque<Name> storage_;
    std::deque<std::string> decoded_;
    std::unordered_map<std::string_view, Name *, WordHash> table_;
};

// Whether the one looks like a slip of the pen for the other.
bool are_similar(std::string_view text, std::string_view word);

// The tokens of the source, ended by one Tok::End.
// The tokens of a translation unit, by number.  They are made of the text a block at a time,
// when one of the block is asked for, and only so many blocks are kept: one that is needed
// again is made again.  Numbers behind the end are the end, too.
class Tokens {
public:
    Tokens(const Source &source, Names &names, Diagnostics &diag);

    Token operator[](uint32_t i)
    {
        if (i - first_ >= kBlock)
            select(i / kBlock);
        return tokens_[i - first_];
    }
    // How many there are, the end included; known when the end has been asked for.
    uint32_t size() const { return size_; }
    // Those that are strings which run over line ends, as far as the text has been looked at.
    const std::vector<uint32_t> &broken_strings() const { return broken_strings_; }

private:
    static constexpr uint32_t kBlock = 4096;
    struct Block {
        uint32_t begin, end; // in the text
        bool used;           // lately
        std::unique_ptr<Token[]> tokens;
    };

    void select(uint32_t block);
    void make(uint32_t block);
    std::unique_ptr<Token[]> room_for(uint32_t block);
    void note(uint32_t number, const Token &token);

    const std::string &text_;
    Names &names_;
    Diagnostics &diag_;
    std::vector<Block> blocks_;  // as far as the text has been looked at
    std::vector<uint32_t> kept_; // blocks, in a ring
    size_t hand_ = 0;            // in the ring: where to look for one to give up
    size_t most_ = 32;           // blocks kept; more when that turns out to be too few
    uint32_t size_ = 0;
    std::vector<uint32_t> broken_strings_;
    // The block at hand.
    uint32_t first_ = 0;
    const Token *tokens_ = nullptr;
};

} // namespace splitcc
