// SPDX-License-Identifier: BSD-3-Clause
#include "lex/lex.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

using namespace splitcc;

namespace {

struct Lexed {
    explicit Lexed(std::string text)
        : source(std::move(text)), pragmas(source), diag(source, options, pragmas),
          tokens(source, names, diag)
    {
        for (uint32_t i = 0; tokens[i].kind != Tok::End;)
            i++;
    }
    std::string spelling(uint32_t i)
    {
        return source.text().substr(tokens[i].offset, tokens[i].length);
    }
    std::vector<std::string> spellings()
    {
        std::vector<std::string> all;
        for (uint32_t i = 0; i + 1 < tokens.size(); i++)
            all.push_back(spelling(i));
        return all;
    }

    Source source;
    WarningOptions options;
    WarningPragmas pragmas;
    Diagnostics diag;
    Names names;
    Tokens tokens;
};

using Words = std::vector<std::string>;

} // namespace

TEST_CASE("the longest punctuator wins")
{
    CHECK(Lexed("a+++b---c->d<<=e>>=f...g").spellings() == Words{"a", "++", "+", "b", "--", "-",
                                                                 "c", "->", "d", "<<=", "e",
                                                                 ">>=", "f", "...", "g"});
    CHECK(Lexed("<::><%%>").spellings() == Words{"<:", ":>", "<%", "%>"});
    CHECK(Lexed("a<b>c<=d>=e==f!=g&&h||i").tokens.size() == 18);
}

TEST_CASE("Split-C's operators stay two tokens each")
{
    CHECK(Lexed("a:=b").spellings() == Words{"a", ":", "=", "b"});
    CHECK(Lexed("a:-b").spellings() == Words{"a", ":", "-", "b"});
    CHECK(Lexed("A[n]::[m]").spellings() == Words{"A", "[", "n", "]", ":", ":", "[", "m", "]"});
    CHECK(Lexed("a?b:==c").spellings() == Words{"a", "?", "b", ":", "==", "c"});
    CHECK(Lexed("a:--b").spellings() == Words{"a", ":", "--", "b"});
}

TEST_CASE("literals are one token, whatever is in them")
{
    CHECK(
        Lexed(R"("a\"b" 'c' '\'' L"wide" u8"x" u'y' U"z" Lx u8)").spellings() ==
        Words{R"("a\"b")", "'c'", R"('\'')", "L\"wide\"", "u8\"x\"", "u'y'", "U\"z\"", "Lx", "u8"});
    CHECK(Lexed("\"two\nlines\" x").spellings() == Words{"\"two\nlines\"", "x"});
    CHECK(Lexed("1.5e-3f 0x1.8p+3 .5 1..2 0xe+1 12ull").spellings() ==
          Words{"1.5e-3f", "0x1.8p+3", ".5", "1..2", "0xe+1", "12ull"});
}

TEST_CASE("what has no end is told, and ends")
{
    for (const char *text : {"\"open", "x = 'a", "'", "\"", "\"\\"}) {
        Lexed lexed(text);
        INFO(text);
        CHECK(lexed.diag.errors() == 1);
        CHECK(lexed.tokens[lexed.tokens.size() - 1].kind == Tok::End);
    }
}

TEST_CASE("keywords and their spellings with underscores are one")
{
    Lexed lexed("int __inline__ inline __typeof typeof __volatile__ global spread");
    CHECK(lexed.tokens[1].kind == Tok::KwInline);
    CHECK(lexed.tokens[1].kind == lexed.tokens[2].kind);
    CHECK(lexed.tokens[3].kind == lexed.tokens[4].kind);
    CHECK(lexed.tokens[5].kind == Tok::KwVolatile);
    CHECK(lexed.tokens[6].kind == Tok::Ident);
    CHECK(lexed.tokens[7].kind == Tok::Ident);
}

TEST_CASE("a keyword can be forgotten")
{
    Names names;
    CHECK(names.intern("inline")->keyword == Tok::KwInline);
    names.forget_keyword("inline");
    CHECK(names.intern("inline")->keyword == Tok::Ident);
    CHECK(names.intern("inline") == names.intern(std::string("in") + "line"));
}

TEST_CASE("tokens cover all that is not space, in order, for any bytes")
{
    std::mt19937 random(1);
    const std::string alphabet = "ab_1.eE+-*/=<>:;,'\"\\ \n\t(){}[]#%&|^!~?L\x80\xff@$";
    for (int round = 0; round < 2000; round++) {
        std::string text;
        for (size_t n = random() % 60; n > 0; n--)
            text += alphabet[random() % alphabet.size()];
        Lexed lexed(text);
        INFO("round " << round << ": " << text);
        uint32_t at = 0;
        for (uint32_t i = 0; i < lexed.tokens.size(); i++) {
            const Token token = lexed.tokens[i];
            REQUIRE(token.offset >= at);
            REQUIRE(token.end() <= lexed.source.text().size());
            at = token.end();
        }
        REQUIRE(lexed.tokens[lexed.tokens.size() - 1].kind == Tok::End);
    }
}

TEST_CASE("a token is the same whenever it is asked for")
{
    std::string text;
    for (int i = 0; i < 100'000; i++)
        text += "a" + std::to_string(i) + " = \"two\nlines\" [ [;\n";
    Lexed lexed(text);
    REQUIRE(lexed.tokens.size() == 600'001);
    REQUIRE(lexed.tokens.broken_strings().size() == 100'000);
    const Tok kinds[] = {Tok::Ident,       Tok::Assign,   Tok::String,
                         Tok::KwAttribute, Tok::LBracket, Tok::Semi};
    std::mt19937 random(1);
    for (int round = 0; round < 1000; round++) {
        const uint32_t i = static_cast<uint32_t>(random() % 600'000);
        INFO("token " << i);
        REQUIRE(lexed.tokens[i].kind == kinds[i % 6]);
        if (i % 6 == 0)
            REQUIRE(lexed.spelling(i) == "a" + std::to_string(i / 6));
    }
    CHECK(lexed.tokens.broken_strings().size() == 100'000);
    CHECK(lexed.tokens[600'000].kind == Tok::End);
    CHECK(lexed.tokens[10'000'000].kind == Tok::End);
}

TEST_CASE("Asking what a text declares makes no name of it, whose text would end with it")
{
    const char *source = "name";
    splitcc::Names names;

    CHECK(names.declared(std::string("name")) == nullptr);
    CHECK(names.intern(source)->text.data() == source);
    CHECK(names.declared("name") == nullptr);
}
