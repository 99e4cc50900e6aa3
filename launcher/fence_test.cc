// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "failure.h"
#include "fence.h"

using namespace unetrun;

TEST_CASE("a fence of all ends when the last node has come, and gives everything to each")
{
    FenceGatherer fences({0, 2, 4, 6});
    CHECK(fences.add(2, {30, {}, "c"}).empty());
    CHECK(fences.add(0, {10, {}, "a"}).empty());
    const auto answers = fences.add(1, {20, {}, "b"});
    REQUIRE(answers.size() == 3);
    for (std::uint32_t node = 0; node < 3; node++) {
        CHECK(answers[node].first == node);
        CHECK(answers[node].second.ticket == 10 * (node + 1));
        CHECK(answers[node].second.good);
        CHECK(answers[node].second.data == "abc");
    }
}

TEST_CASE("fences of different ranks do not mix, and the same ranks may meet again")
{
    FenceGatherer fences({0, 2, 4, 6});
    CHECK(fences.add(0, {1, {1, 2}, "x"}).empty());
    CHECK(fences.add(0, {2, {}, "all"}).empty());
    CHECK(fences.add(1, {3, {2, 1}, "y"}).size() == 2); // whatever the order
    CHECK(fences.add(1, {4, {1, 2}, "z"}).empty());
    CHECK(fences.add(0, {5, {1, 2}, ""}).size() == 2);
}

TEST_CASE("a fence of one node's ranks ends at once")
{
    FenceGatherer fences({0, 2, 4});
    CHECK(fences.add(1, {1, {2, 3}, "x"}).size() == 1);
}

TEST_CASE("a fence that cannot be is refused")
{
    FenceGatherer fences({0, 2, 4});
    CHECK_THROWS_AS(fences.add(0, {1, {4}, ""}), Failure);    // no such rank
    CHECK_THROWS_AS(fences.add(0, {1, {2, 3}, ""}), Failure); // not this node's
    fences.add(0, {1, {}, ""});
    CHECK_THROWS_AS(fences.add(0, {2, {}, ""}), Failure); // twice
}
