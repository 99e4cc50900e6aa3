// SPDX-License-Identifier: BSD-3-Clause
#include "driver/broken_strings.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>

using namespace splitcc;

using Lines = std::set<uint32_t>;

namespace {

long newlines(const std::string &text)
{
    return std::count(text.begin(), text.end(), '\n');
}

} // namespace

TEST_CASE("strings that run over a line end are found in the main file alone")
{
    CHECK(broken_string_lines("# 1 \"a.sc\"\nint x;\nchar *s = \"ok\";\n", "a.sc").empty());
    CHECK(broken_string_lines("# 1 \"a.sc\"\nchar *s = \"one\ntwo\", *t = \"x\ny\";\n", "a.sc") ==
          Lines{1, 2});
    CHECK(broken_string_lines("# 1 \"a.sc\"\n\n# 1 \"h.h\" 1\nchar *s = \"a\nb\";\n"
                              "# 3 \"a.sc\" 2\nchar *t = \"c\nd\";\n",
                              "a.sc") == Lines{3});
    CHECK(broken_string_lines("# 1 \"a.sc\"\nchar c = '\"', d = '\\\"';\n", "a.sc").empty());
    CHECK(broken_string_lines("# 1 \"a.sc\"\nchar *s = \"\\\"\";\n", "a.sc").empty());
}

TEST_CASE("suspects are found in the source itself, comments apart")
{
    CHECK(suspect_string_lines("f(\"one\ntwo\");\n") == Lines{1});
    CHECK(suspect_string_lines("// it's \"open\nf(\"a\");\n").empty());
    CHECK(suspect_string_lines("/* \"open\n */ f('\"');\nf(\"b\nc\");") == Lines{3});
    CHECK(suspect_string_lines("f(\"continued\\\nhere\");\n").empty());
}

TEST_CASE("joined strings keep their text and the lines their number")
{
    CHECK(join_broken_strings("s = \"one\ntwo\";\n", {1}) == "s = \"one\\n\\\ntwo\";\n");
    CHECK(join_broken_strings("s = \"a\n\nb\"; t = \"c\nd\";\n", {1, 3}) ==
          "s = \"a\\n\\\n\\n\\\nb\"; t = \"c\\n\\\nd\";\n");
    CHECK(join_broken_strings("s = \"a\\\nb\nc\";\n", {1}) == "s = \"a\\\nb\\n\\\nc\";\n");
    CHECK(join_broken_strings("it's fine\n\"x\n", {}) == "it's fine\n\"x\n");
    CHECK(join_broken_strings("s = \"one\r\ntwo\\\r\n3\";\r\nt;\r\n", {1}) ==
          "s = \"one\\n\\\ntwo\\\n3\";\r\nt;\r\n");
}

TEST_CASE("a forgotten quote is told from strings over several lines")
{
    auto forgotten = [](const std::string &text) {
        const size_t at = forgotten_quote(text);
        return at == text.npos ? -1 : std::count(text.begin(), text.begin() + long(at), '\n') + 1;
    };
    CHECK(forgotten("f(\"a\nb\");\ng(\"c\");\n") == -1);
    CHECK(forgotten("f(\"a);\n") == 1);
    CHECK(forgotten("f(\"a);\n\ng(\"b\");\nh(\"c\", \"d\");\n") == 1);
    CHECK(forgotten("s = \"x\ny\";\nf(\"a);\n\ng(\"b\");\n") == 3);
    CHECK(forgotten("f(\"a);\ns = \"x\ny\";\ng(\"b\");\n") == 1);
    CHECK(forgotten("f(\"a\");\ng(\"b\");\nh(\"c);\n") == 3);
}

TEST_CASE("joining never changes the number of lines, for any bytes")
{
    std::mt19937 random(5);
    const std::string alphabet = "a\"'\\\n/* ";
    for (int round = 0; round < 3000; round++) {
        std::string text;
        for (size_t n = random() % 40; n > 0; n--)
            text += alphabet[random() % alphabet.size()];
        Lines all;
        for (uint32_t line = 1; line <= 41; line++)
            all.insert(line);
        INFO("round " << round << ": " << text);
        REQUIRE(newlines(join_broken_strings(text, suspect_string_lines(text))) == newlines(text));
        REQUIRE(newlines(join_broken_strings(text, all)) == newlines(text));
        broken_string_lines("# 1 \"a.sc\"\n" + text, "a.sc"); // returns
    }
}

TEST_CASE("a joined source has no broken string left")
{
    std::mt19937 random(7);
    for (int round = 0; round < 500; round++) {
        std::string text;
        for (size_t n = random() % 6; n > 0; n--) {
            text += "s = \"";
            for (size_t k = random() % 8; k > 0; k--)
                text += "ab \\n\n"[random() % 6] == '\\' ? std::string("\\\"")
                                                         : std::string(1, "ab /\n'"[random() % 6]);
            text += "\";\n";
        }
        Lines lines = broken_string_lines("# 1 \"a.sc\"\n" + text, "a.sc");
        std::string joined = join_broken_strings(text, lines);
        INFO("round " << round << ":\n" << text << "joined:\n" << joined);
        REQUIRE(suspect_string_lines(joined).empty());
    }
}
