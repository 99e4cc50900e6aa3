// SPDX-License-Identifier: BSD-3-Clause
#include "sema/literals.h"

#include <cstdlib>
#include <string>

namespace splitcc::literals {
namespace {

bool is_unsigned(const Type *type)
{
    switch (type->kind) {
    case TypeKind::Bool:
    case TypeKind::UChar:
    case TypeKind::UShort:
    case TypeKind::UInt:
    case TypeKind::ULong:
    case TypeKind::ULLong:
    case TypeKind::UInt128:
        return true;
    default:
        return false;
    }
}

struct Suffix {
    bool is_unsigned = false, imaginary = false;
    int longs = 0;
    char floating = 0; // f, l, or the first letter of a longer suffix
    bool exotic = false;
};

Suffix read_suffix(std::string_view suffix, bool floating)
{
    Suffix s;
    for (char c : suffix) {
        switch (c) {
        case 'u':
        case 'U':
            s.is_unsigned = true;
            break;
        case 'i':
        case 'I':
        case 'j':
        case 'J':
            s.imaginary = true;
            break;
        case 'l':
        case 'L':
            s.longs++;
            s.floating = 'l';
            break;
        case 'f':
        case 'F':
            if (floating)
                s.floating = 'f';
            break;
        default:
            s.exotic = true; // f128, dd, w, q ...
        }
    }
    return s;
}

const Type *floating_type(Types &types, const Suffix &s)
{
    if (s.exotic)
        return types.unknown();
    const Type *type = types.basic(s.floating == 'f'   ? TypeKind::Float
                                   : s.floating == 'l' ? TypeKind::LDouble
                                                       : TypeKind::Double);
    return s.imaginary ? types.complex(type) : type;
}

// Recognises an int in digits alone, as most numbers are.
bool is_short_decimal(std::string_view spelling, int64_t &value)
{
    if (spelling.size() > 9 || (spelling[0] == '0' && spelling.size() > 1))
        return false;
    value = 0;
    for (char c : spelling) {
        if (c < '0' || c > '9')
            return false;
        value = 10 * value + (c - '0');
    }
    return true;
}

// Returns the first type in the list of C17 6.4.4.1 that holds the value.
TypeKind integer_kind(uint64_t value, bool decimal, const Suffix &s)
{
    if (s.longs >= 2)
        return s.is_unsigned || value > INT64_MAX ? TypeKind::ULLong : TypeKind::LLong;
    if (s.longs == 0) {
        if (s.is_unsigned ? value <= UINT32_MAX : value <= INT32_MAX)
            return s.is_unsigned ? TypeKind::UInt : TypeKind::Int;
        if (!decimal && value <= UINT32_MAX)
            return TypeKind::UInt;
    }
    return s.is_unsigned || value > INT64_MAX ? TypeKind::ULong : TypeKind::Long;
}

} // namespace

int64_t wrap(int64_t value, const Type *type)
{
    auto bytes = size_of(type);
    if (type->kind == TypeKind::Bool)
        return value != 0;
    if (!bytes || *bytes >= 8)
        return value;
    unsigned shift = 64 - 8 * static_cast<unsigned>(*bytes);
    uint64_t bits = static_cast<uint64_t>(value) << shift;
    return is_unsigned(type) ? static_cast<int64_t>(bits >> shift)
                             : static_cast<int64_t>(bits) >> shift;
}

void number(Types &types, std::string_view spelling, Expr *e)
{
    if (int64_t value; is_short_decimal(spelling, value)) {
        e->type = types.basic(TypeKind::Int);
        e->value = value;
        return;
    }
    std::string text(spelling);
    bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool binary = text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    bool floating = text.find('.') != std::string::npos ||
                    text.find_first_of(hex ? "pP" : "eE") != std::string::npos;
    if (floating && !binary) {
        char *end;
        std::strtod(text.c_str(), &end);
        e->type = floating_type(types, read_suffix(end, true));
        return;
    }
    char *end;
    const char *digits = text.c_str() + (binary ? 2 : 0);
    uint64_t value = std::strtoull(digits, &end, binary ? 2 : 0);
    Suffix suffix = read_suffix(end, false);
    bool decimal = !hex && !binary && text[0] != '0';
    e->type = types.basic(integer_kind(value, decimal, suffix));
    if (suffix.imaginary)
        e->type = types.complex(e->type);
    else
        e->value = static_cast<int64_t>(value);
}

void character(Types &types, std::string_view spelling, Expr *e)
{
    char prefix = spelling.empty() ? '\'' : spelling[0];
    e->type = types.basic(prefix == 'u'   ? TypeKind::UShort
                          : prefix == 'U' ? TypeKind::UInt
                                          : TypeKind::Int);
    // Only null pointer constants and dimensions need the value, so ASCII is enough.
    if (spelling.size() == 3 && prefix == '\'')
        e->value = spelling[1];
    else if (spelling == "'\\0'")
        e->value = 0;
}

const Type *string_element(Types &types, std::string_view spelling)
{
    if (spelling.starts_with("L"))
        return types.basic(TypeKind::Int);
    if (spelling.starts_with("U"))
        return types.basic(TypeKind::UInt);
    if (spelling.starts_with("u") && !spelling.starts_with("u8"))
        return types.basic(TypeKind::UShort);
    return types.basic(TypeKind::Char);
}

std::optional<int64_t> fold(Tok op, std::optional<int64_t> left, std::optional<int64_t> right,
                            const Type *type)
{
    if (!left || !right || !type->is_integer() || size_of(type).value_or(16) > 8)
        return {};
    int64_t a = wrap(*left, type), b = wrap(*right, type);
    uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    bool u = is_unsigned(type);
    auto result = [&](uint64_t value) { return wrap(static_cast<int64_t>(value), type); };
    switch (op) {
    case Tok::Plus:
        return result(ua + ub);
    case Tok::Minus:
        return result(ua - ub);
    case Tok::Star:
        return result(ua * ub);
    case Tok::Slash:
    case Tok::Percent:
        if (b == 0 || (!u && a == INT64_MIN && b == -1))
            return {};
        if (op == Tok::Slash)
            return u ? result(ua / ub) : a / b;
        return u ? result(ua % ub) : a % b;
    case Tok::Shl:
        return *right < 0 || *right > 63 ? std::nullopt : std::optional(result(ua << *right));
    case Tok::Shr:
        if (*right < 0 || *right > 63)
            return {};
        return u ? result(ua >> *right) : a >> *right;
    case Tok::Amp:
        return result(ua & ub);
    case Tok::Pipe:
        return result(ua | ub);
    case Tok::Caret:
        return result(ua ^ ub);
    case Tok::EqEq:
        return a == b;
    case Tok::NotEq:
        return a != b;
    case Tok::Lt:
        return u ? ua < ub : a < b;
    case Tok::Gt:
        return u ? ua > ub : a > b;
    case Tok::Le:
        return u ? ua <= ub : a <= b;
    case Tok::Ge:
        return u ? ua >= ub : a >= b;
    default:
        return {};
    }
}

} // namespace splitcc::literals
