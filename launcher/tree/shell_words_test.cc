// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <vector>

#include "tree/shell_words.h"

using namespace unetrun;
using Strings = std::vector<std::string>;

namespace {

// The lines that come of these portions.
Strings lines_of(const Strings &portions)
{
    ShellWords words;
    Strings lines;
    for (const std::string &portion : portions)
        words.feed(portion, [&](const std::string &line) { lines.push_back(line); });
    return lines;
}

} // namespace

TEST_CASE("a remote shell's words are taken line by line")
{
    CHECK(lines_of({"one\ntw", "o\r\n", "\n \r\nthree  \nfour"}) == Strings{"one", "two", "three"});
}

TEST_CASE("a remote shell's line is cut where it becomes too long")
{
    const std::string longest(ShellWords::line_max, 'x');
    CHECK(lines_of({longest + "\n"}) == Strings{longest});
    CHECK(lines_of({longest + "y\n"}) == Strings{longest});
    CHECK(lines_of({longest.substr(1), "xy", "z\n"}) == Strings{longest});
    CHECK(lines_of({std::string(100000, 'x') + "\nnext\n"}) == Strings{longest, "next"});
}
