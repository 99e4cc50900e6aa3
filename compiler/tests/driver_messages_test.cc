// SPDX-License-Identifier: BSD-3-Clause
//
// What the C compiler says, as splitcc tells it: the right places in any text that old
// sources have, whatever compiler and options.
#include "driver_folder.h"

#include <algorithm>
#include <vector>

namespace {

// What splitcc prints when it compiles this with each of the C compilers.
std::vector<std::string> said_about(const std::string &source, const std::string &options)
{
    Folder folder;
    folder.file("a.sc", source);
    std::vector<std::string> all;
    for (std::string cc : {"gcc", "clang"})
        all.push_back(folder.splitcc("-cc " + cc + " " + options + " -c a.sc").err);
    return all;
}

// Both have one warning, which is about `place` and shown so.
void check_place(const std::string &source, const std::string &place, const std::string &shown,
                 const std::string &options = "")
{
    for (const std::string &said : said_about(source, options)) {
        CHECK_THAT(said, Catch::StartsWith("a.sc:" + place + ": warning: ") &&
                             Catch::EndsWith("\n" + shown));
        CHECK(std::count(said.begin(), said.end(), '\n') == 3);
    }
}

} // namespace

TEST_CASE("messages of the C compiler stand at their places behind tabs")
{
    check_place("int f(void) {\n\treturn \"abc\"; }\n", "2:9",
                "  2 | \treturn \"abc\"; }\n    | \t       ^\n");
    check_place("int *global g;\nint f(void) {\n\tint a = *g;\treturn\t\"abc\"; }\n", "3:21",
                "  3 | \tint a = *g;\treturn\t\"abc\"; }\n    | \t           \t      \t^\n");
}

TEST_CASE("messages of the C compiler stand at their places behind UTF-8")
{
    check_place("int f(void) { /* h\xc3\xa4 */ return \"abc\"; }\n", "1:32",
                "  1 | int f(void) { /* h\xc3\xa4 */ return \"abc\"; }\n"
                "    |                               ^\n");
    // Two wide characters, four columns.
    check_place(
        "int *global g;\nint f(void) { /* \xe6\xbc\xa2\xe5\xad\x97 */ *g = 1; return \"a\"; }\n",
        "2:43",
        "  2 | int f(void) { /* \xe6\xbc\xa2\xe5\xad\x97 */ *g = 1; return \"a\"; }\n"
        "    |                                         ^\n");
}

TEST_CASE("messages of the C compiler stand at their places where lines end with CR LF")
{
    check_place("int f(void) {\r\n\treturn \"abc\"; }\r\n", "2:9",
                "  2 | \treturn \"abc\"; }\n    | \t       ^\n");
    check_place("#define F(a, b) b\r\nint f(int n)\r\n{\r\n\tF(1, \\\r\n\t\tint unused;)\r\n"
                "\treturn n;\r\n}\r\n",
                "5:7", "  5 | \t\tint unused;)\n    | \t\t    ^~~~~~\n", "-Wunused-variable");
}

TEST_CASE("messages of the C compiler know the letters of names")
{
    check_place("int *global g;\nint f(void) {\n\tint \xc3\xa4x; return *g; }\n", "3:6",
                "  3 | \tint \xc3\xa4x; return *g; }\n    | \t    ^~\n", "-Wunused-variable");
}

TEST_CASE("messages of the C compiler are told however it is to write its own")
{
    const std::string source = "int f(void) {\n\treturn \"abc\"; }\n";
    check_place(source, "2:9", "  2 | \treturn \"abc\"; }\n    | \t       ^\n",
                "-fno-show-column -fmessage-length=30");
    for (const std::string &said : said_about(source, "-fdiagnostics-color=always"))
        CHECK_THAT(said, Contains("\033[1ma.sc:2:9: \033[1;35mwarning: "));
    Folder folder;
    folder.file("a.sc", source);
    Outcome display = folder.splitcc("-cc gcc -fdiagnostics-column-unit=display "
                                     "-fdiagnostics-column-origin=0 -c a.sc");
    CHECK_THAT(display.err, Catch::StartsWith("a.sc:2:9: warning: "));
    check_refused(folder.splitcc("-fdiagnostics-format=sarif-stderr -c a.sc"), "'text' or 'json'");
}
