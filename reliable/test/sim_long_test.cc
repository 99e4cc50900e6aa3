// SPDX-License-Identifier: BSD-3-Clause
//
// Many more random worlds than sim_test.cc has time for.
#include <catch2/catch.hpp>

#include "sim.h"

TEST_CASE("a thousand million packets arrive once and in order in random worlds of faults")
{
    const uint64_t packets = sim::number_from("SPLITC_SIM_PACKETS", 1000000000);
    uint64_t carried = 0;

    for (uint64_t seed = sim::number_from("SPLITC_SIM_SEED", 1000000); carried < packets; seed++)
        REQUIRE(sim::random_world(seed, 100000, carried) == "");
}
