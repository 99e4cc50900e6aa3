// SPDX-License-Identifier: BSD-3-Clause
#include "lex.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

using namespace splitcc;

namespace {

struct Lexed {
    explicit Lexed(std::string text)
        : source(std::move(text)), pragmas(source), diag(source, options, pragmas)
    {
        tokens = lex(source, names, diag);
    }
    std::string spelling(size_t i) const
    {
        return source.text().substr(tokens[i].offset, tokens[i].length);
    }
    std::vector<std::string> spellings() const
    {
        std::vector<std::string> all;
        for (size_t i = 0; i + 1 < tokens.size(); i++)
            all.push_back(spelling(i));
        return all;
    }

    Source source;
    WarningOptions options;
    WarningPragmas pragmas;
    Diagnostics diag;
    Names names;
    std::vector<Token> tokens;
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
        CHECK(lexed.tokens.back().kind == Tok::End);
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
        for (const Token &token : lexed.tokens) {
            REQUIRE(token.offset >= at);
            REQUIRE(token.end() <= lexed.source.text().size());
            at = token.end();
        }
        REQUIRE(lexed.tokens.back().kind == Tok::End);
    }
}
