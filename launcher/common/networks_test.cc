// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "common/networks.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

TEST_CASE("endpoints are where the user says, or else somewhere")
{
    CHECK(interface_of({"UNET_INTERFACE=10.0.0.0/8"}) == "10.0.0.0/8");
    CHECK(interface_of({}) != "");
}

TEST_CASE("what cannot be had here is told")
{
    const Networks found = look_for_networks({"udp", "pigeon"});
    REQUIRE(found.found.size() == 2);
    CHECK(found.found[0].backend == "udp");
    CHECK(found.found[0].obstacle.empty());
    CHECK(found.found[1].backend == "pigeon");
    CHECK_THAT(found.found[1].obstacle, Contains("not implemented"));
}
