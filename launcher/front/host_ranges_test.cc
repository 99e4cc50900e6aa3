// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "common/failure.h"
#include "front/host_ranges.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

TEST_CASE("host ranges: numbers keep the digits that the first one has")
{
    CHECK(expand_host_ranges("a", "here") == Strings{"a"});
    CHECK(expand_host_ranges("n[1-3]", "here") == Strings{"n1", "n2", "n3"});
    CHECK(expand_host_ranges("n[08-11,2]:4", "here") ==
          Strings{"n08:4", "n09:4", "n10:4", "n11:4", "n2:4"});
    CHECK(expand_host_ranges("r[1-2][5-6].x", "here") ==
          Strings{"r15.x", "r16.x", "r25.x", "r26.x"});
    CHECK(expand_host_ranges("[::1]:2", "here") == Strings{"[::1]:2"});
}

TEST_CASE("host ranges: commas within brackets end no host")
{
    CHECK(split_host_list("a,n[1,3-4],b:2") == Strings{"a", "n[1,3-4]", "b:2"});
    CHECK(split_host_list("") == Strings{""});
    CHECK(split_host_list("a,") == Strings{"a", ""});
}

TEST_CASE("host ranges: what is none is refused with how to write it")
{
    const std::string text =
        GENERATE("n[1-", "n[]", "n[2-1]", "n[a-b]", "n[1,]", "n[-1]", "n[1-2-3]",
                 "n[1-99999999999]", "n[0-65536]", "n[1-9999][1-9999]");
    INFO(text);
    try {
        expand_host_ranges(text, "--hosts");
        FAIL("not refused");
    } catch (const Failure &failure) {
        CHECK(failure.code == exit_usage);
        CHECK_THAT(failure.what(), Contains("--hosts: '") && Contains("n[1-4,7]"));
    }
}
