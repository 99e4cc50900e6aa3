// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of C for numbers, as far as random programs use them.
#include "numbers.h"

namespace random_program {

namespace basic {
const Type Char{Kind::Integer, "char", 1};
const Type UChar{Kind::Integer, "unsigned char", 1, false};
const Type Short{Kind::Integer, "short", 2};
const Type UShort{Kind::Integer, "unsigned short", 2, false};
const Type Int{Kind::Integer, "int", 4};
const Type UInt{Kind::Integer, "unsigned", 4, false};
const Type Long{Kind::Integer, "long", 8};
const Type ULong{Kind::Integer, "unsigned long", 8, false};
const Type Float{Kind::Real, "float", 4};
const Type Double{Kind::Real, "double", 8};
} // namespace basic

const Type *promoted(const Type *type)
{
    return type->kind == Kind::Integer && type->size < 4 ? &basic::Int : type;
}

const Type *promoted(const Node &n)
{
    const Node *place = n.op == Op::Load ? n.kids[0].get() : &n;
    return is_bit_field(*place) ? &basic::Int : promoted(n.type);
}

const Type *usual(const Type *a, const Type *b)
{
    if (a->kind == Kind::Real || b->kind == Kind::Real) {
        bool is_double = a == &basic::Double || b == &basic::Double;
        return is_double ? &basic::Double : &basic::Float;
    }
    if (a->size != b->size)
        return a->size > b->size ? a : b;
    return a->is_signed ? b : a;
}

bool is_comparison(const std::string &token)
{
    return token == "==" || token == "!=" || token == "<" || token == ">" || token == "<=" ||
           token == ">=" || token == "&&" || token == "||";
}

bool is_shift(const std::string &token)
{
    return token == "<<" || token == ">>";
}

bool is_bit_field(const Node &place)
{
    return (place.op == Op::MemberOf || place.op == Op::Arrow) && place.member->bits;
}

long product(const std::vector<Dimension> &dimensions, long procs)
{
    long all = 1;
    for (const Dimension &dimension : dimensions)
        all *= dimension.value(procs);
    return all;
}

long Variable::elements(long procs) const
{
    return product(spread, procs);
}

long wrap(long n, int bits, bool is_signed)
{
    if (bits >= 64)
        return n;
    unsigned long low = static_cast<unsigned long>(n) & ((1UL << bits) - 1);
    bool negative = is_signed && (low >> (bits - 1) & 1);
    return static_cast<long>(negative ? low | ~((1UL << bits) - 1) : low);
}

Number convert(const Number &from, const Type &a, const Type &b)
{
    if (b.kind == Kind::Integer)
        return {wrap(a.kind == Kind::Real ? static_cast<long>(from.real) : from.whole, 8 * b.size,
                     b.is_signed),
                0};
    double real = from.real;
    if (a.kind == Kind::Integer && &b == &basic::Float) {
        real = a.is_signed ? static_cast<float>(from.whole)
                           : static_cast<float>(static_cast<unsigned long>(from.whole));
    } else if (a.kind == Kind::Integer) {
        real = a.is_signed ? static_cast<double>(from.whole)
                           : static_cast<double>(static_cast<unsigned long>(from.whole));
    } else if (&b == &basic::Float) {
        real = static_cast<float>(real);
    }
    return {0, real};
}

namespace {

bool compare(const std::string &token, auto a, auto b)
{
    return token == "=="   ? a == b
           : token == "!=" ? a != b
           : token == "<"  ? a < b
           : token == ">"  ? a > b
           : token == "<=" ? a <= b
                           : a >= b;
}

auto arithmetic(const std::string &token, auto a, auto b)
{
    return token == "+" ? a + b : token == "-" ? a - b : a * b;
}

// Returns the result for two operands of one type, wrapped as -fwrapv does.
long whole_result(const std::string &token, long x, long y, const Type &type)
{
    auto a = static_cast<unsigned long>(x), b = static_cast<unsigned long>(y);
    if (token == "/" || token == "%") {
        bool divide = token == "/";
        if (type.is_signed)
            return divide ? x / y : x % y;
        return static_cast<long>(divide ? a / b : a % b);
    }
    if (token == "&" || token == "|" || token == "^")
        return token == "&" ? x & y : token == "|" ? x | y : x ^ y;
    if (token == "<<")
        return static_cast<long>(a << y);
    if (token == ">>")
        return type.is_signed ? x >> y : static_cast<long>(a >> y);
    return static_cast<long>(arithmetic(token, a, b));
}

} // namespace

Number binary(const std::string &token, const Number &a, const Number &b, const Type &type)
{
    if (is_comparison(token)) {
        bool holds = type.kind == Kind::Real ? compare(token, a.real, b.real)
                     : type.is_signed        ? compare(token, a.whole, b.whole)
                                             : compare(token, static_cast<unsigned long>(a.whole),
                                                       static_cast<unsigned long>(b.whole));
        return {holds, 0};
    }
    if (type.kind == Kind::Integer)
        return {wrap(whole_result(token, a.whole, b.whole, type), 8 * type.size, type.is_signed),
                0};
    if (&type == &basic::Float)
        return {0, arithmetic(token, static_cast<float>(a.real), static_cast<float>(b.real))};
    return {0, arithmetic(token, a.real, b.real)};
}

} // namespace random_program
