// SPDX-License-Identifier: BSD-3-Clause
#include "sema/literals.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <string>

using namespace splitcc;

namespace {

struct Number {
    std::string type;
    std::optional<int64_t> value;
};

Number number(const std::string &spelling)
{
    static Types types;
    Expr e(ExprKind::Number);
    literals::number(types, spelling, &e);
    return {describe(e.type), e.value};
}

Number character(const std::string &spelling)
{
    static Types types;
    Expr e(ExprKind::Char);
    literals::character(types, spelling, &e);
    return {describe(e.type), e.value};
}

// The result of the same operation in this compiler.
template <class T> std::optional<int64_t> native(Tok op, T a, T b)
{
    switch (op) {
    case Tok::Amp:
        return static_cast<int64_t>(a & b);
    case Tok::Pipe:
        return static_cast<int64_t>(a | b);
    case Tok::Caret:
        return static_cast<int64_t>(a ^ b);
    case Tok::Slash:
        return static_cast<int64_t>(a / b);
    case Tok::Percent:
        return static_cast<int64_t>(a % b);
    case Tok::Lt:
        return a < b;
    case Tok::Ge:
        return a >= b;
    case Tok::EqEq:
        return a == b;
    default: { // the wrapping ones
        using U = std::make_unsigned_t<T>;
        U x = static_cast<U>(a), y = static_cast<U>(b);
        U r = op == Tok::Plus ? x + y : op == Tok::Minus ? x - y : x * y;
        return static_cast<int64_t>(static_cast<T>(r));
    }
    }
}

template <class T> void check_folding(TypeKind kind)
{
    Types types;
    const Type *type = types.basic(kind);
    std::mt19937_64 random(3);
    const Tok ops[] = {Tok::Plus, Tok::Minus, Tok::Star, Tok::Slash, Tok::Percent, Tok::Amp,
                       Tok::Pipe, Tok::Caret, Tok::Lt,   Tok::Ge,    Tok::EqEq};
    for (int round = 0; round < 5000; round++) {
        T a = static_cast<T>(random() >> (random() % 64)), b = static_cast<T>(random() >> 33);
        if (round % 3 == 0)
            b = static_cast<T>(0 - b);
        if (round % 7 == 0)
            b = a;
        if (b == 0)
            b = 1;
        Tok op = ops[random() % std::size(ops)];
        INFO(describe(type) << ": " << a << " op " << static_cast<int>(op) << ' ' << b);
        REQUIRE(literals::fold(op, static_cast<int64_t>(a), static_cast<int64_t>(b), type) ==
                native<T>(op, a, b));
    }
}

} // namespace

TEST_CASE("integers have the type and value of C")
{
    struct {
        const char *spelling, *type;
        int64_t value;
    } cases[] = {
        {"0", "int", 0},
        {"2147483647", "int", 2147483647},
        {"2147483648", "long", 2147483648},
        {"0x7fffffff", "int", 0x7fffffff},
        {"0x80000000", "unsigned int", 0x80000000},
        {"0xFFFFFFFFF", "long", 0xFFFFFFFFF},
        {"0xffffffffffffffff", "unsigned long", -1},
        {"037777777777", "unsigned int", 0xffffffff},
        {"010", "int", 8},
        {"0b1011", "int", 11},
        {"5u", "unsigned int", 5},
        {"5U", "unsigned int", 5},
        {"4294967296u", "unsigned long", 4294967296},
        {"5L", "long", 5},
        {"5ul", "unsigned long", 5},
        {"5LU", "unsigned long", 5},
        {"5ll", "long long", 5},
        {"5ULL", "unsigned long long", 5},
        {"0xeUL", "unsigned long", 14},
    };
    for (auto &c : cases) {
        INFO(c.spelling);
        Number n = number(c.spelling);
        CHECK(n.type == c.type);
        CHECK(n.value == c.value);
    }
}

TEST_CASE("floating literals have a type and no value")
{
    struct {
        const char *spelling, *type;
    } cases[] = {{"1.0", "double"},          {"1e10", "double"},       {".5f", "float"},
                 {"5.F", "float"},           {"1.5L", "long double"},  {"0x1.8p3", "double"},
                 {"0x1p-2f", "float"},       {"1e+5l", "long double"}, {"2.0i", "double _Complex"},
                 {"1.0fi", "float _Complex"}};
    for (auto &c : cases) {
        INFO(c.spelling);
        CHECK(number(c.spelling).type == c.type);
        CHECK_FALSE(number(c.spelling).value);
    }
}

TEST_CASE("characters")
{
    CHECK(character("'a'").type == "int");
    CHECK(character("'a'").value == 97);
    CHECK(character("'\\0'").value == 0);
    CHECK_FALSE(character("'\\n'").value == 0);
    CHECK(character("L'a'").type == "int");
    CHECK(character("u'a'").type == "unsigned short");
    CHECK(character("U'a'").type == "unsigned int");
}

TEST_CASE("the elements of strings")
{
    Types types;
    auto element = [&](const char *spelling) {
        return describe(literals::string_element(types, spelling));
    };
    CHECK(element("\"x\"") == "char");
    CHECK(element("u8\"x\"") == "char");
    CHECK(element("L\"x\"") == "int");
    CHECK(element("u\"x\"") == "unsigned short");
    CHECK(element("U\"x\"") == "unsigned int");
}

TEST_CASE("constants fold as the machine computes")
{
    check_folding<int>(TypeKind::Int);
    check_folding<unsigned>(TypeKind::UInt);
    check_folding<long>(TypeKind::Long);
    check_folding<unsigned long>(TypeKind::ULong);
}

TEST_CASE("what C leaves undefined is not folded")
{
    Types types;
    const Type *type = types.basic(TypeKind::Long), *narrow = types.basic(TypeKind::Int);
    CHECK_FALSE(literals::fold(Tok::Slash, 1, 0, type));
    CHECK_FALSE(literals::fold(Tok::Percent, 1, 0, type));
    CHECK_FALSE(literals::fold(Tok::Slash, INT64_MIN, -1, type));
    CHECK_FALSE(literals::fold(Tok::Shl, 1, 64, type));
    CHECK_FALSE(literals::fold(Tok::Shr, 1, -1, narrow));
    CHECK_FALSE(literals::fold(Tok::Plus, {}, 1, type));
    CHECK_FALSE(literals::fold(Tok::Plus, 1, {}, type));
    CHECK_FALSE(literals::fold(Tok::Plus, 1, 1, types.basic(TypeKind::Double)));
    CHECK_FALSE(literals::fold(Tok::Plus, 1, 1, types.basic(TypeKind::Int128)));
    CHECK(literals::fold(Tok::Shl, 1, 10, narrow) == 1024);
    CHECK(literals::fold(Tok::Shr, -8, 1, narrow) == -4);
    CHECK(literals::fold(Tok::Shr, -8, 1, types.basic(TypeKind::UInt)) == 0x7ffffffc);
}

TEST_CASE("a value wraps as an object holds it")
{
    Types types;
    auto wrap = [&](int64_t value, TypeKind kind) {
        return literals::wrap(value, types.basic(kind));
    };
    CHECK(wrap(300, TypeKind::UChar) == 44);
    CHECK(wrap(200, TypeKind::SChar) == -56);
    CHECK(wrap(-1, TypeKind::UShort) == 65535);
    CHECK(wrap(-1, TypeKind::UInt) == 4294967295);
    CHECK(wrap(1L << 40, TypeKind::Int) == 0);
    CHECK(wrap(256, TypeKind::Bool) == 1);
    CHECK(wrap(INT64_MIN, TypeKind::Long) == INT64_MIN);
}
