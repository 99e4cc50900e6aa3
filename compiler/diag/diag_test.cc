// SPDX-License-Identifier: BSD-3-Clause
//
// How messages look, where they point, and which warnings are given.
#include "diag/diag.h"
#include "diag/locate.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace splitcc;

namespace {

Message example()
{
    Message m;
    m.severity = Severity::Warning;
    m.text = "told \"you\"";
    m.option = "-Wlocal-escape";
    m.position = {"a.sc", 12};
    m.caret = {5, 6};
    m.line = "  a + bcd";
    return m;
}

// A user's file, and the preprocessed text that was made of it.
class Pair {
public:
    Pair(const std::string &user, const std::string &preprocessed)
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "splitcc-XXXXXX").string();
        int fd = mkstemp(pattern.data());
        REQUIRE(fd >= 0);
        close(fd);
        path_ = pattern;
        std::ofstream(path_) << user;
        text_ = "# 1 \"" + path_ + "\"\n" + preprocessed;
    }
    ~Pair() { unlink(path_.c_str()); }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    Located find(const std::string &what, size_t nth = 1) const
    {
        size_t at = text_.find('\n'); // an offset in the text after the marker
        for (size_t i = 0; i < nth; i++)
            at = text_.find(what, at + 1);
        REQUIRE(at != std::string::npos);
        Source source(text_);
        auto begin = static_cast<uint32_t>(at);
        return Locator(source).locate({begin, begin + static_cast<uint32_t>(what.size())});
    }

private:
    std::string path_, text_;
};

void check(const Located &at, uint32_t line, uint32_t begin, uint32_t end, const char *macro = "")
{
    CHECK(at.position.line == line);
    CHECK(at.span.begin == begin);
    CHECK(at.span.end == end);
    CHECK(at.macro == macro);
}

} // namespace

TEST_CASE("A message shows its line and a caret")
{
    CHECK(render_text({example()}, false) == "a.sc:12:5: warning: told \"you\" [-Wlocal-escape]\n"
                                             "  12 |   a + bcd\n"
                                             "     |     ^\n");
}

TEST_CASE("Marks stand under characters, not bytes, and tabs stay tabs")
{
    Message m = example();
    m.line = "\t\xc3\xa4 + bcd";
    m.caret = {2, 10};
    CHECK(render_text({m}, false) == "a.sc:12:2: warning: told \"you\" [-Wlocal-escape]\n"
                                     "  12 | \t\xc3\xa4 + bcd\n"
                                     "     | \t^~~~~~~\n");
}

TEST_CASE("Marks take the columns of what they stand under")
{
    Message m = example();
    m.line = "a\t\xe6\xbc\xa2"
             "e\xcc\x81 b\tc";
    m.caret = {3, 13};
    CHECK(render_text({m}, false) == "a.sc:12:3: warning: told \"you\" [-Wlocal-escape]\n"
                                     "  12 | a\t\xe6\xbc\xa2"
                                     "e\xcc\x81 b\tc\n"
                                     "     |  \t^~~~~~~~~\n");
    CHECK_THAT(render_json({m}), Catch::Contains("\"finish\": {\"file\": \"a.sc\", \"line\": 12, "
                                                 "\"column\": 17, \"display-column\": 17, "
                                                 "\"byte-column\": 12}"));
}

TEST_CASE("A fix is shown as it is to be written")
{
    Message m = example();
    m.option = "";
    m.line = "\xe6\xbc\xa2 x";
    m.caret = {5, 6};
    m.fixes = {{{1, 1}, "(\xe6\xbc\xa2 ~x)"}};
    CHECK(render_text({m}, false) == "a.sc:12:5: warning: told \"you\"\n"
                                     "  12 | \xe6\xbc\xa2 x\n"
                                     "     |    ^\n"
                                     "     | (\xe6\xbc\xa2 ~x)\n");
}

TEST_CASE("Colours surround what they paint")
{
    Message m = example();
    CHECK(render_text({m}, true) ==
          "\033[1ma.sc:12:5: \033[1;35mwarning: \033[0m\033[1mtold \"you\" "
          "[-Wlocal-escape]\033[0m\n  12 |   a + bcd\n     |     \033[1;32m^\033[0m\n");
}

TEST_CASE("A fix stands under the place where it belongs")
{
    Message m = example();
    m.option = "";
    m.fixes = {{{5, 6}, "- 1"}};
    CHECK(render_text({m}, false) == "a.sc:12:5: warning: told \"you\"\n"
                                     "  12 |   a + bcd\n"
                                     "     |     ^\n"
                                     "     |     - 1\n");
}

TEST_CASE("Inclusions are told when the file changes")
{
    Message a = example(), b = example();
    a.included_from = b.included_from = {{"b.h", 2}, {"c.sc", 1}};
    a.caret = b.caret = {};
    CHECK(render_text({a, b}, false) == "In file included from b.h:2,\n"
                                        "                 from c.sc:1:\n"
                                        "a.sc:12: warning: told \"you\" [-Wlocal-escape]\n"
                                        "a.sc:12: warning: told \"you\" [-Wlocal-escape]\n");
}

TEST_CASE("JSON is what gcc prints")
{
    Message m = example();
    m.line = "\ta + bcd";
    m.caret = {5, 8};
    m.fixes = {{{5, 6}, "-"}};
    CHECK(
        render_json({m}) ==
        R"([{"kind": "warning", "message": "told \"you\"", "option": "-Wlocal-escape", )"
        R"("column-origin": 1, "escape-source": false, "locations": [{"caret": )"
        R"({"file": "a.sc", "line": 12, "column": 12, "display-column": 12, "byte-column": 5}, )"
        R"("finish": )"
        R"({"file": "a.sc", "line": 12, "column": 14, "display-column": 14, "byte-column": 7}}], )"
        R"("fixits": [{"start": )"
        R"({"file": "a.sc", "line": 12, "column": 12, "display-column": 12, "byte-column": 5}, )"
        R"("next": )"
        R"({"file": "a.sc", "line": 12, "column": 13, "display-column": 13, "byte-column": 6}, )"
        R"("string": "-"}], "children": []}])"
        "\n");
    CHECK(render_json({}) == "[]\n");
}

TEST_CASE("A place in a line that no macro changed is itself")
{
    Pair pair("int a;\n  a = b;\n", "int a;\n  a = b;\n");
    check(pair.find("b"), 2, 7, 8);
}

TEST_CASE("An argument of a macro is found where the user wrote it")
{
    Pair pair("x = TWICE(long_name) + b;\n", "x = (long_name + long_name) + b;\n");
    check(pair.find("long_name"), 1, 11, 20);
    check(pair.find("long_name", 2), 1, 11, 20);
    check(pair.find("b"), 1, 24, 25);
}

TEST_CASE("What only a macro's body has is shown at the macro's name")
{
    Pair pair("y = 1 + COUNT;\nz = ADD(y, 2);\n", "y = 1 + (n * 3);\nz = ((y) % (2));\n");
    check(pair.find("n"), 1, 9, 14, "COUNT");
    check(pair.find("%"), 2, 5, 8, "ADD");
}

TEST_CASE("Lines that the preprocessor joined are told apart")
{
    Pair pair("f(ADD(one,\n      two));\ng();\n", "f(((one) + (two)));\n\ng();\n");
    check(pair.find("one"), 1, 7, 10);
    check(pair.find("two"), 2, 7, 10);
    check(pair.find("g"), 3, 1, 2);
}

TEST_CASE("Line ends of CR LF are line ends")
{
    Pair pair("#define F(a) (a)\r\n\tb = F(c \\\r\n  );\r\n", "\n b = (c);\n");
    check(pair.find("b"), 2, 2, 3);
    check(pair.find("c"), 2, 8, 9);
    CHECK(pair.find("c").line == "\tb = F(c \\");
}

TEST_CASE("Universal character names are the letters they stand for")
{
    Pair pair("#define N 1\nint \xc3\xa4x = N;\n", "\nint \\U000000e4x = 1;\n");
    check(pair.find("\\"), 2, 5, 6);
    check(pair.find("="), 2, 9, 10);
}

TEST_CASE("The end of the text is behind its last character")
{
    Pair pair("int f(void) {\n", "int f(void) {\n");
    check(pair.find("\n"), 1, 14, 15);
}

TEST_CASE("The include stack follows the line markers")
{
    Source source("# 1 \"a.sc\"\n# 1 \"b.h\" 1\nint b;\n# 1 \"c.h\" 1\nint c;\n# 2 \"b.h\" 2\n"
                  "int d;\n# 2 \"a.sc\" 2\nint e;\n");
    auto stack = [&](const char *what) {
        std::string all;
        for (const Inclusion &i :
             source.included_from(static_cast<uint32_t>(source.text().find(what))))
            all += std::string(i.file) + ":" + std::to_string(i.line) + " ";
        return all;
    };
    CHECK(stack("int b") == "a.sc:1 ");
    CHECK(stack("int c") == "b.h:2 a.sc:1 ");
    CHECK(stack("int d") == "a.sc:1 ");
    CHECK(stack("int e") == "");
}

TEST_CASE("Options switch warnings on, off, and into errors")
{
    auto level = [](std::initializer_list<const char *> words, const char *name) {
        WarningOptions options;
        for (const char *word : words)
            options.read(word);
        return options.level(name);
    };
    CHECK(level({}, "-Wsplit-phase") == Level::Warning);
    CHECK(level({}, "-Wcast-local") == Level::Off);
    CHECK(level({"-Wcast-local"}, "-Wcast-local") == Level::Warning);
    CHECK(level({"-Wno-split-phase"}, "-Wsplit-phase") == Level::Off);
    CHECK(level({"-Wno-split-phase", "-Wsplit-phase"}, "-Wsplit-phase") == Level::Warning);
    CHECK(level({"-Werror=cast-local"}, "-Wcast-local") == Level::Error);
    CHECK(level({"-Werror"}, "-Wsplit-phase") == Level::Error);
    CHECK(level({"-Werror"}, "-Wcast-local") == Level::Off);
    CHECK(level({"-Werror", "-Wno-error=split-phase"}, "-Wsplit-phase") == Level::Warning);
    CHECK(level({"-Werror", "-Wno-error"}, "-Wsplit-phase") == Level::Warning);
}

TEST_CASE("Only warnings of ours are kept from the C compiler")
{
    WarningOptions options;
    for (const char *ours : {"-Wsplit-phase", "-Wno-local-escape", "-Werror=cast-local"})
        CHECK(options.read(ours));
    for (const char *both : {"-Wint-conversion", "-Wall", "-Werror", "-w", "-Wsplit"})
        CHECK_FALSE(options.read(both));
}

TEST_CASE("Pragmas hold from where they stand, and are taken out where cc knows them not")
{
    std::string text = "a\n#pragma GCC diagnostic push\nb\n"
                       "#pragma GCC diagnostic ignored \"-Wsplit-phase\"\nc\n"
                       "#pragma GCC diagnostic error \"-Wint-conversion\"\nd\n"
                       "#pragma GCC diagnostic pop\ne\n";
    Source source(text);
    WarningPragmas pragmas(source);
    auto level = [&](const char *name, char at) {
        return pragmas.level(name, static_cast<uint32_t>(text.find(std::string("\n") + at) + 1),
                             Level::Warning);
    };
    CHECK(level("-Wsplit-phase", 'b') == Level::Warning);
    CHECK(level("-Wsplit-phase", 'c') == Level::Off);
    CHECK(level("-Wsplit-phase", 'd') == Level::Off);
    CHECK(level("-Wsplit-phase", 'e') == Level::Warning);
    CHECK(level("-Wint-conversion", 'c') == Level::Warning);
    CHECK(level("-Wint-conversion", 'd') == Level::Error);
    CHECK(source.text().find("split-phase") == std::string::npos);
    CHECK(source.text().find("int-conversion") != std::string::npos);
    CHECK(source.text().size() == text.size());
}
