// SPDX-License-Identifier: BSD-3-Clause
#include "lex/lexer.h"

#include <array>

#include "source/spelling.h"

namespace splitcc {
namespace {

class Lexer {
public:
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

// A table classifies the characters of names, because most of the text is names.
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

// Skips white space and lines that begin with #: markers and pragmas, which the emitter copies as a
// part of the space between two tokens.  Returns false at the end of the text.
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

// Scans a preprocessing number: digits, letters, dots, and signs after e, E, p and P.
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

// Returns the length of the prefix L, u, U or u8 of a literal, or 0.
uint32_t Lexer::literal_prefix() const
{
    char c = text_[pos_];
    if (c == 'u' && at(pos_ + 1) == '8' && at(pos_ + 2) == '"')
        return 2;
    if ((c == 'L' || c == 'u' || c == 'U') && (at(pos_ + 1) == '"' || at(pos_ + 1) == '\''))
        return 1;
    return 0;
}

// Scans a literal.  Strings may run over line ends, as they did in programs of the 1990s.
Token Lexer::quoted(char quote, Tok kind, uint32_t prefix)
{
    uint32_t end = pos_ + prefix + 1;
    while (end < text_.size() && text_[end] != quote) {
        if (text_[end] == '\n' && kind == Tok::Char)
            break;
        end += text_[end] == '\\' && end + 1 < text_.size() ? 2 : 1;
    }
    if (at(end) != quote) {
        if (kind == Tok::Char) // go on behind the word, since the rest of the line is code
            for (end = pos_ + prefix + 1; ident_part(at(end)) || at(end) == '\\'; end++) {
            }
        error(kind == Tok::Char ? "this character constant has no end"
                                : "this string literal has no end");
        return token(kind, end);
    }
    return token(kind, end + 1);
}

// Returns the token of a bracket.  `[[` begins attributes, as __attribute__ does.
Tok Lexer::bracket()
{
    Lexer after = *this;
    after.pos_++;
    return after.skip_space() && text_[after.pos_] == '[' ? Tok::KwAttribute : Tok::LBracket;
}

// Scans a punctuator.  Returns false if the character begins none.
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
        pos_++; // the character is skipped
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

uint32_t read_tokens(const std::string &text, uint32_t from, Names &names, Diagnostics *diag,
                     Token *tokens, uint32_t count)
{
    Lexer lexer(text, from, names, diag);
    for (uint32_t i = 0; i < count; i++)
        tokens[i] = lexer.next();
    return lexer.position();
}

} // namespace splitcc
