// SPDX-License-Identifier: BSD-3-Clause
#include "lex/lex.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace splitcc {
namespace {

struct Keyword {
    std::string_view text;
    Tok kind;
};

constexpr Keyword kKeywords[] = {
    {"auto", Tok::KwAuto},
    {"break", Tok::KwBreak},
    {"case", Tok::KwCase},
    {"char", Tok::KwChar},
    {"const", Tok::KwConst},
    {"__const", Tok::KwConst},
    {"__const__", Tok::KwConst},
    {"continue", Tok::KwContinue},
    {"default", Tok::KwDefault},
    {"do", Tok::KwDo},
    {"double", Tok::KwDouble},
    {"else", Tok::KwElse},
    {"enum", Tok::KwEnum},
    {"extern", Tok::KwExtern},
    {"float", Tok::KwFloat},
    {"for", Tok::KwFor},
    {"goto", Tok::KwGoto},
    {"if", Tok::KwIf},
    {"inline", Tok::KwInline},
    {"__inline", Tok::KwInline},
    {"__inline__", Tok::KwInline},
    {"int", Tok::KwInt},
    {"long", Tok::KwLong},
    {"register", Tok::KwRegister},
    {"restrict", Tok::KwRestrict},
    {"__restrict", Tok::KwRestrict},
    {"__restrict__", Tok::KwRestrict},
    {"return", Tok::KwReturn},
    {"short", Tok::KwShort},
    {"signed", Tok::KwSigned},
    {"__signed", Tok::KwSigned},
    {"__signed__", Tok::KwSigned},
    {"sizeof", Tok::KwSizeof},
    {"static", Tok::KwStatic},
    {"struct", Tok::KwStruct},
    {"switch", Tok::KwSwitch},
    {"typedef", Tok::KwTypedef},
    {"union", Tok::KwUnion},
    {"unsigned", Tok::KwUnsigned},
    {"void", Tok::KwVoid},
    {"volatile", Tok::KwVolatile},
    {"__volatile", Tok::KwVolatile},
    {"__volatile__", Tok::KwVolatile},
    {"while", Tok::KwWhile},
    {"_Alignas", Tok::KwAlignas},
    {"_Alignof", Tok::KwAlignof},
    {"__alignof", Tok::KwAlignof},
    {"__alignof__", Tok::KwAlignof},
    {"_Atomic", Tok::KwAtomic},
    {"_Bool", Tok::KwBool},
    {"_Complex", Tok::KwComplex},
    {"__complex", Tok::KwComplex},
    {"__complex__", Tok::KwComplex},
    {"_Generic", Tok::KwGeneric},
    {"_Noreturn", Tok::KwNoreturn},
    {"_Static_assert", Tok::KwStaticAssert},
    {"_Thread_local", Tok::KwThreadLocal},
    {"__thread", Tok::KwThreadLocal},
    {"__attribute__", Tok::KwAttribute},
    {"__attribute", Tok::KwAttribute},
    {"asm", Tok::KwAsm},
    {"__asm", Tok::KwAsm},
    {"__asm__", Tok::KwAsm},
    {"typeof", Tok::KwTypeof},
    {"__typeof", Tok::KwTypeof},
    {"__typeof__", Tok::KwTypeof},
    {"__extension__", Tok::KwExtension},
    {"__label__", Tok::KwLabel},
    {"__real", Tok::KwReal},
    {"__real__", Tok::KwReal},
    {"__imag", Tok::KwImag},
    {"__imag__", Tok::KwImag},
    {"__auto_type", Tok::KwAutoType},
    {"__int128", Tok::KwInt128},
    {"_Float16", Tok::KwFloatN},
    {"_Float32", Tok::KwFloatN},
    {"_Float64", Tok::KwFloatN},
    {"_Float128", Tok::KwFloatN},
    {"_Float32x", Tok::KwFloatN},
    {"_Float64x", Tok::KwFloatN},
    {"__float128", Tok::KwFloatN},
    {"__float80", Tok::KwFloatN},
    {"__ibm128", Tok::KwFloatN},
    {"__bf16", Tok::KwFloatN},
    {"_Decimal32", Tok::KwFloatN},
    {"_Decimal64", Tok::KwFloatN},
    {"_Decimal128", Tok::KwFloatN},
    {"__builtin_va_arg", Tok::KwVaArg},
    {"__builtin_offsetof", Tok::KwOffsetof},
    {"__builtin_types_compatible_p", Tok::KwTypesCompatible},
    {"__builtin_choose_expr", Tok::KwChooseExpr},
    {"__builtin_convertvector", Tok::KwConvertVector},
};

class Lexer {
public:
    // `diag`: null if this part of the text has been looked at before.
    Lexer(const std::string &text, uint32_t from, Names &names, Diagnostics *diag)
        : text_(text), names_(names), diag_(diag), pos_(from)
    {
    }

    Token next();
    uint32_t position() const { return pos_; }

private:
    char at(uint32_t i) const { return i < text_.size() ? text_[i] : '\0'; }
    bool skip_space();
    uint32_t identifier_end() const;
    Token identifier();
    Token number();
    Token quoted(char quote, Tok kind, uint32_t prefix);
    bool punctuator(Token &token);
    Tok bracket();
    uint32_t literal_prefix() const;
    Token token(Tok kind, uint32_t end, Name *name = nullptr);
    void error(std::string_view message);

    const std::string &text_;
    Names &names_;
    Diagnostics *diag_;
    uint32_t pos_;
};

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// What the characters of a name are, looked up: most of the text is names.
enum NamePart : uint8_t { kNone, kInside, kAnywhere };

constexpr auto kNameParts = [] {
    std::array<NamePart, 256> parts = {};
    for (unsigned c = 0; c < 256; c++) {
        const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (letter || c == '_' || c == '$' || c >= 0x80)
            parts[c] = kAnywhere;
        else if (c >= '0' && c <= '9')
            parts[c] = kInside;
    }
    return parts;
}();

bool ident_start(char c)
{
    return kNameParts[static_cast<unsigned char>(c)] == kAnywhere;
}

bool ident_part(char c)
{
    return kNameParts[static_cast<unsigned char>(c)] != kNone;
}

void append_utf8(std::string &text, uint32_t c)
{
    if (c < 0x80) {
        text += static_cast<char>(c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; // bytes that follow the first
    const uint32_t first[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(first[more] | c >> 6 * more);
    while (more-- > 0)
        text += static_cast<char>(0x80 | (c >> 6 * more & 0x3f));
}

Token Lexer::token(Tok kind, uint32_t end, Name *name)
{
    const uint32_t begin = pos_;
    pos_ = end;
    return {kind, begin, end - begin, name};
}

void Lexer::error(std::string_view message)
{
    if (diag_)
        diag_->error({pos_, pos_ + 1}, message);
}

// Over white space and the lines that begin with # (markers and pragmas, which
// the emitter copies with the text between two tokens).  False at the end.
bool Lexer::skip_space()
{
    while (pos_ < text_.size()) {
        char c = text_[pos_];
        if (c == '#' && (pos_ == 0 || text_[pos_ - 1] == '\n')) {
            size_t newline = text_.find('\n', pos_);
            pos_ = newline == std::string::npos ? static_cast<uint32_t>(text_.size())
                                                : static_cast<uint32_t>(newline);
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            pos_++;
        } else {
            return true;
        }
    }
    return false;
}

uint32_t Lexer::identifier_end() const
{
    uint32_t end = pos_;
    while (ident_part(at(end)) || is_universal(text_, end))
        end++;
    return end;
}

Token Lexer::identifier()
{
    uint32_t end = identifier_end();
    std::string_view spelling = std::string_view(text_).substr(pos_, end - pos_);
    Name *name = spelling.find('\\') == std::string_view::npos
                     ? names_.intern(spelling)
                     : names_.intern_decoded(decoded(spelling));
    return token(name->keyword, end, name);
}

// A preprocessing number: digits, letters, dots, and signs after e, E, p, P.
Token Lexer::number()
{
    uint32_t end = pos_ + 1;
    for (;; end++) {
        char c = at(end);
        char previous = at(end - 1);
        bool exponent = (c == '+' || c == '-') &&
                        (previous == 'e' || previous == 'E' || previous == 'p' || previous == 'P');
        if (!exponent && c != '.' && !ident_part(c))
            break;
    }
    return token(Tok::Number, end);
}

// Length of the L, u, U or u8 in front of a quote; 0 when there is none.
uint32_t Lexer::literal_prefix() const
{
    char c = text_[pos_];
    if (c == 'u' && at(pos_ + 1) == '8' && at(pos_ + 2) == '"')
        return 2;
    if ((c == 'L' || c == 'u' || c == 'U') && (at(pos_ + 1) == '"' || at(pos_ + 1) == '\''))
        return 1;
    return 0;
}

// A string may run over line ends: programs of the 1990s do.
Token Lexer::quoted(char quote, Tok kind, uint32_t prefix)
{
    uint32_t end = pos_ + prefix + 1;
    while (end < text_.size() && text_[end] != quote) {
        if (text_[end] == '\n' && kind == Tok::Char)
            break;
        end += text_[end] == '\\' && end + 1 < text_.size() ? 2 : 1;
    }
    if (at(end) != quote) {
        if (kind == Tok::Char) // what follows is code again
            for (end = pos_ + prefix + 1; ident_part(at(end)) || at(end) == '\\'; end++) {
            }
        error(kind == Tok::Char ? "this character constant has no end"
                                : "this string literal has no end");
        return token(kind, end);
    }
    return token(kind, end + 1);
}

// Two of them begin attributes, as the word does.
Tok Lexer::bracket()
{
    Lexer after = *this;
    after.pos_++;
    return after.skip_space() && text_[after.pos_] == '[' ? Tok::KwAttribute : Tok::LBracket;
}

// False if it is none.
bool Lexer::punctuator(Token &result)
{
    char c = text_[pos_], d = at(pos_ + 1), e = at(pos_ + 2);
    auto take = [&](Tok kind, uint32_t length) {
        result = token(kind, pos_ + length);
        return true;
    };
    auto one = [&](Tok kind) { return take(kind, 1); };
    auto two = [&](Tok kind) { return take(kind, 2); };
    auto three = [&](Tok kind) { return take(kind, 3); };

    switch (c) {
    case '(':
        return one(Tok::LParen);
    case ')':
        return one(Tok::RParen);
    case '[':
        return one(bracket());
    case ']':
        return one(Tok::RBracket);
    case '{':
        return one(Tok::LBrace);
    case '}':
        return one(Tok::RBrace);
    case ';':
        return one(Tok::Semi);
    case ',':
        return one(Tok::Comma);
    case '~':
        return one(Tok::Tilde);
    case '?':
        return one(Tok::Question);
    case '.':
        return d == '.' && e == '.' ? three(Tok::Ellipsis) : one(Tok::Dot);
    case ':':
        return d == '>' ? two(Tok::RBracket) : one(Tok::Colon);
    case '=':
        return d == '=' ? two(Tok::EqEq) : one(Tok::Assign);
    case '!':
        return d == '=' ? two(Tok::NotEq) : one(Tok::Bang);
    case '*':
        return d == '=' ? two(Tok::MulAssign) : one(Tok::Star);
    case '/':
        return d == '=' ? two(Tok::DivAssign) : one(Tok::Slash);
    case '^':
        return d == '=' ? two(Tok::XorAssign) : one(Tok::Caret);
    case '%':
        return d == '=' ? two(Tok::ModAssign) : d == '>' ? two(Tok::RBrace) : one(Tok::Percent);
    case '+':
        return d == '+' ? two(Tok::Inc) : d == '=' ? two(Tok::AddAssign) : one(Tok::Plus);
    case '-':
        return d == '-'   ? two(Tok::Dec)
               : d == '=' ? two(Tok::SubAssign)
               : d == '>' ? two(Tok::Arrow)
                          : one(Tok::Minus);
    case '&':
        return d == '&' ? two(Tok::AndAnd) : d == '=' ? two(Tok::AndAssign) : one(Tok::Amp);
    case '|':
        return d == '|' ? two(Tok::OrOr) : d == '=' ? two(Tok::OrAssign) : one(Tok::Pipe);
    case '<':
        if (d == '<')
            return e == '=' ? three(Tok::ShlAssign) : two(Tok::Shl);
        return d == '='   ? two(Tok::Le)
               : d == ':' ? two(Tok::LBracket)
               : d == '%' ? two(Tok::LBrace)
                          : one(Tok::Lt);
    case '>':
        if (d == '>')
            return e == '=' ? three(Tok::ShrAssign) : two(Tok::Shr);
        return d == '=' ? two(Tok::Ge) : one(Tok::Gt);
    default:
        error("this character is no part of the language");
        pos_++; // and is forgotten
        return false;
    }
}

Token Lexer::next()
{
    while (skip_space() && !(diag_ && diag_->too_many())) {
        char c = text_[pos_];
        uint32_t prefix = literal_prefix();
        char quote = at(pos_ + prefix);
        if (quote == '"')
            return quoted('"', Tok::String, prefix);
        if (quote == '\'')
            return quoted('\'', Tok::Char, prefix);
        if (ident_start(c) || is_universal(text_, pos_))
            return identifier();
        if (is_digit(c) || (c == '.' && is_digit(at(pos_ + 1))))
            return number();
        if (Token punctuation; punctuator(punctuation))
            return punctuation;
    }
    return token(Tok::End, pos_);
}

} // namespace

// gcc's preprocessor writes all letters beyond ASCII so.
bool is_universal(std::string_view text, size_t at)
{
    return at + 1 < text.size() && text[at] == '\\' && (text[at + 1] == 'u' || text[at + 1] == 'U');
}

std::string decoded(std::string_view spelling)
{
    std::string name;
    for (size_t i = 0; i < spelling.size();) {
        size_t digits = spelling[i] != '\\' ? 0 : spelling[i + 1] == 'u' ? 4 : 8;
        if (digits == 0) {
            name += spelling[i++];
            continue;
        }
        std::string number(spelling.substr(i + 2, digits));
        append_utf8(name, static_cast<uint32_t>(std::strtoul(number.c_str(), nullptr, 16)));
        i = std::min(i + 2 + digits, spelling.size());
    }
    return name;
}

Names::Names()
{
    for (const Keyword &keyword : kKeywords)
        intern(keyword.text)->keyword = keyword.kind;
}

Name *Names::intern(std::string_view text)
{
    auto [entry, fresh] = table_.try_emplace(text, nullptr);
    if (fresh) {
        storage_.push_back({text});
        entry->second = &storage_.back();
    }
    return entry->second;
}

Name *Names::intern_decoded(std::string text)
{
    decoded_.push_back(std::move(text));
    return intern(decoded_.back());
}

namespace {

// Edits between two words; to swap two letters is one.
size_t distance(std::string_view a, std::string_view b)
{
    std::vector<size_t> row(b.size() + 1), above, two_above;
    for (size_t j = 0; j <= b.size(); j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size(); i++) {
        two_above = std::exchange(above, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            size_t substitute = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b.size()];
}

// How many edits make another word of this one.
size_t edits_too_many(std::string_view text)
{
    return text.size() > 64 ? 0 : text.size() < 3 ? 1 : text.size() < 4 ? 2 : text.size() / 3 + 1;
}

} // namespace

bool are_similar(std::string_view text, std::string_view word)
{
    return text.size() < 2 * word.size() && distance(text, word) < edits_too_many(text);
}

std::string Names::similar_declared(const Name *name) const
{
    std::string_view text = name->text;
    size_t best = edits_too_many(text);
    std::string found;
    for (const Name &other : storage_) {
        bool means_something =
            other.ordinary || (other.keyword != Tok::Ident && !other.text.starts_with('_'));
        size_t longer = std::max(other.text.size(), text.size());
        size_t shorter = std::min(other.text.size(), text.size());
        if (!means_something || &other == name || longer - shorter >= best)
            continue;
        if (size_t d = distance(text, other.text); d < best) {
            best = d;
            found = other.text;
        }
    }
    return found;
}

bool Names::is_declared(std::string_view text) const
{
    auto entry = table_.find(text);
    return entry != table_.end() && entry->second->ordinary;
}

void Names::forget_keyword(std::string_view text)
{
    intern(text)->keyword = Tok::Ident;
}

// ---- tokens by number

Tokens::Tokens(const Source &source, Names &names, Diagnostics &diag)
    : text_(source.text()), names_(names), diag_(diag)
{
    select(0);
}

void Tokens::select(uint32_t block)
{
    while (blocks_.size() <= block) {
        blocks_.push_back({blocks_.empty() ? 0 : blocks_.back().end, 0, true, nullptr});
        make(static_cast<uint32_t>(blocks_.size() - 1));
    }
    if (!blocks_[block].tokens) {
        most_++; // so that the whole text is made again once at the most
        make(block);
    }
    blocks_[block].used = true;
    first_ = block * kBlock;
    tokens_ = blocks_[block].tokens.get();
}

void Tokens::make(uint32_t number)
{
    std::unique_ptr<Token[]> tokens = room_for(number);
    Block &block = blocks_[number];
    const bool fresh = block.end == 0;
    Lexer lexer(text_, block.begin, names_, fresh ? &diag_ : nullptr);
    for (uint32_t i = 0; i < kBlock; i++) {
        tokens[i] = lexer.next();
        if (fresh)
            note(number * kBlock + i, tokens[i]);
    }
    block.end = lexer.position();
    block.tokens = std::move(tokens);
}

// Memory for a block: new, or that of one that was not used lately.
std::unique_ptr<Token[]> Tokens::room_for(uint32_t block)
{
    if (kept_.size() < most_) {
        kept_.push_back(block);
        return std::make_unique<Token[]>(kBlock);
    }
    for (;; blocks_[kept_[hand_]].used = false) {
        hand_ = (hand_ + 1) % kept_.size();
        Block &old = blocks_[kept_[hand_]];
        if (old.used)
            continue;
        kept_[hand_] = block;
        return std::move(old.tokens);
    }
}

void Tokens::note(uint32_t number, const Token &token)
{
    if (token.kind == Tok::End && size_ == 0)
        size_ = number + 1;
    if (token.kind == Tok::String && std::memchr(text_.data() + token.offset, '\n', token.length))
        broken_strings_.push_back(number);
}

} // namespace splitcc
