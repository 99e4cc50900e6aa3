// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "front/line_merger.h"

using namespace unetrun;

TEST_CASE("whole lines of several ranks pass unchanged")
{
    LineMerger merger(false);
    CHECK(merger.merge(0, 0, "a\nb\n") == "a\nb\n");
    CHECK(merger.merge(1, 0, std::string_view("\0\xff\n", 3)) == std::string("\0\xff\n", 3));
    CHECK(merger.merge(1, 0, "").empty());
}

TEST_CASE("tags stand in front of each line, once")
{
    LineMerger merger(true);
    CHECK(merger.merge(12, 0, "a\n\nb\n") == "[12] a\n[12] \n[12] b\n");
    CHECK(merger.merge(3, 0, "long") == "[3] long");
    CHECK(merger.merge(3, 0, "er\nnext\n") == "er\n[3] next\n");
}

TEST_CASE("a line that another rank left open is closed first")
{
    const bool tagged = GENERATE(false, true);
    LineMerger merger(tagged);
    merger.merge(0, 0, "open");
    CHECK(merger.merge(1, 0, "x\n") == (tagged ? "\n[1] x\n" : "\nx\n"));
    merger.merge(0, 0, "open");
    CHECK(merger.merge(0, 1, "the other stream\n").front() == '\n');
    merger.merge(0, 0, "open");
    CHECK(merger.merge_own("unetrun: text") == "\nunetrun: text\n");
    CHECK(merger.merge_own("unetrun: text") == "unetrun: text\n");
}
