// SPDX-License-Identifier: BSD-3-Clause
//
// The folder lex/ turns text into tokens, and words into names.  It includes source/ and diag/.
//
// `:=`, `:-` and `::` are two tokens each.  Only the parser can tell `*g :- 1` from `a ? b :-1`,
// and it asks whether the two tokens touch.
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

// An identifier, of which there is one object for the whole translation unit.  It points to what it
// means in the innermost scope that the parser is in.
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
    Name *name = nullptr; // set for identifiers and keywords

    uint32_t end() const { return offset + length; }
    Range range() const { return {offset, end()}; }
};

// FNV-1a, which is fast for short words that begin or end alike.
struct WordHash {
    size_t operator()(std::string_view word) const
    {
        uint64_t hash = 0xcbf29ce484222325;
        for (char c : word)
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return hash ^ hash >> 32;
    }
};

// All names of a translation unit.
class Names {
public:
    Names();
    // The text has to live as long as the names.
    Name *intern(std::string_view text);
    // Does the same for a name whose text does not stand in the source like this.
    Name *intern_decoded(std::string text);
    // Makes a keyword an ordinary identifier, because the C standard in use does not have it.
    void forget_keyword(std::string_view text);
    // What is declared by that name, or null.  Makes no name of the text.
    const Symbol *declared(std::string_view text) const;
    // Returns the name that `counts`, or keyword, that is most similar to this one, or nothing.
    std::string similar(const Name *name, bool keywords, bool (*counts)(const Name &)) const;

private:
    std::deque<Name> storage_;
    std::deque<std::string> decoded_;
    std::unordered_map<std::string_view, Name *, WordHash> table_;
};

// The tokens of a translation unit, by number.  The text is scanned in blocks of tokens when one of
// them is asked for.  Only some blocks stay in memory, and the others are scanned again if they are
// needed, so that memory does not grow with the text.  Numbers behind the last token give Tok::End.
class Tokens {
public:
    Tokens(const Source &source, Names &names, Diagnostics &diag);

    Token operator[](uint32_t i)
    {
        if (i - first_ >= kBlock)
            select(i / kBlock);
        return tokens_[i - first_];
    }
    // Return the place and the text of the tokens from `first` up to, not including, `last`.
    Range range(uint32_t first, uint32_t last)
    {
        return {(*this)[first].offset, (*this)[last - 1].end()};
    }
    std::string_view spelling(uint32_t first, uint32_t last)
    {
        const Range where = range(first, last);
        return std::string_view(text_).substr(where.begin, where.end - where.begin);
    }
    std::string_view spelling(uint32_t i) { return spelling(i, i + 1); }
    // Returns the number of tokens including Tok::End, once the end has been reached.
    uint32_t size() const { return size_; }
    // Returns the string literals that run over line ends, as far as the text has been scanned.
    const std::vector<uint32_t> &broken_strings() const { return broken_strings_; }

private:
    static constexpr uint32_t kBlock = 4096;
    struct Block {
        uint32_t begin, end; // offsets in the text
        bool used;           // since the ring was last searched
        std::unique_ptr<Token[]> tokens;
    };

    void select(uint32_t block);
    void make(uint32_t block);
    std::unique_ptr<Token[]> room_for(uint32_t block);
    void note(uint32_t number, const Token &token);

    const std::string &text_;
    Names &names_;
    Diagnostics &diag_;
    std::vector<Block> blocks_;  // as far as the text has been scanned
    std::vector<uint32_t> kept_; // the blocks in memory, as a ring
    size_t hand_ = 0;            // index into kept_: where the search for a block to drop goes on
    size_t most_ = 32;           // how many blocks may stay in memory; grows if it is too few
    uint32_t size_ = 0;
    std::vector<uint32_t> broken_strings_;
    // The block that holds the token asked for last.
    uint32_t first_ = 0;
    const Token *tokens_ = nullptr;
};

} // namespace splitcc
