// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include "placement.h"

using namespace unetrun;
using Numbers = std::vector<std::uint32_t>;

TEST_CASE("nodes are filled in order of their slots")
{
    CHECK(place(4, {8}) == Numbers{0, 4});
    CHECK(place(5, {2, 2, 2}) == Numbers{0, 2, 4, 5});
    CHECK(place(2, {2, 2}) == Numbers{0, 2, 2});
    CHECK(place(3, {0, 4}) == Numbers{0, 0, 3});
}

TEST_CASE("more ranks than slots are shared out in proportion")
{
    CHECK(place(8, {1}) == Numbers{0, 8});
    CHECK(place(8, {1, 1}) == Numbers{0, 4, 8});
    CHECK(place(9, {1, 2}) == Numbers{0, 3, 9});
    CHECK(place(65536, {1, 1, 1}).back() == 65536);
}

TEST_CASE("any placement gives every rank one node, and none more than its share")
{
    std::mt19937 random(20240229);
    for (int round = 0; round < 2000; round++) {
        Numbers slots(1 + random() % 12);
        for (auto &slot : slots)
            slot = 1 + random() % 16;
        const std::uint32_t ranks = 1 + random() % 300;
        const std::uint32_t total = std::accumulate(slots.begin(), slots.end(), 0u);
        const Numbers first_rank = place(ranks, slots);
        CAPTURE(ranks, slots, first_rank);

        REQUIRE(first_rank.size() == slots.size() + 1);
        REQUIRE(first_rank.front() == 0);
        REQUIRE(first_rank.back() == ranks);
        for (std::size_t node = 0; node < slots.size(); node++) {
            REQUIRE(first_rank[node] <= first_rank[node + 1]);
            const std::uint32_t here = first_rank[node + 1] - first_rank[node];
            const std::uint32_t share =
                ranks <= total ? slots[node] : ranks * slots[node] / total + 1;
            REQUIRE(here <= share);
            for (std::uint32_t rank = first_rank[node]; rank < first_rank[node + 1]; rank++)
                REQUIRE(node_of(first_rank, rank) == node);
        }
    }
}

TEST_CASE("the node of a rank is found across empty nodes")
{
    const Numbers first_rank{0, 0, 3, 3, 5};
    CHECK(node_of(first_rank, 0) == 1);
    CHECK(node_of(first_rank, 2) == 1);
    CHECK(node_of(first_rank, 3) == 3);
    CHECK(node_of(first_rank, 4) == 3);
}

TEST_CASE("ranks are bound when each has a core, or when told so")
{
    CHECK(bind(2, 4, BindTo::automatic) == Numbers{0, 1});
    CHECK(bind(4, 4, BindTo::automatic) == Numbers{0, 1, 2, 3});
    CHECK(bind(5, 4, BindTo::automatic).empty());
    CHECK(bind(2, 4, BindTo::none).empty());
    CHECK(bind(5, 2, BindTo::core) == Numbers{0, 1, 0, 1, 0});
    CHECK(bind(2, 0, BindTo::core).empty());
}

TEST_CASE("ranks per core are rounded up")
{
    CHECK(ranks_per_core(1, 2) == 1);
    CHECK(ranks_per_core(2, 2) == 1);
    CHECK(ranks_per_core(3, 2) == 2);
    CHECK(ranks_per_core(8, 2) == 4);
    CHECK(ranks_per_core(3, 0) == 3);
}
