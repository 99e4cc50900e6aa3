// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "front/placement.h"

using namespace unetrun;
using Numbers = std::vector<std::uint32_t>;

TEST_CASE("nodes are filled in order of their slots")
{
    CHECK(place(4, {8}, MapBy::slot) == Numbers{0, 0, 0, 0});
    CHECK(place(5, {2, 2, 2}, MapBy::slot) == Numbers{0, 0, 1, 1, 2});
    CHECK(place(2, {2, 2}, MapBy::slot) == Numbers{0, 0});
    CHECK(place(3, {0, 4}, MapBy::core) == Numbers{1, 1, 1});
}

TEST_CASE("more ranks than slots are shared out in proportion")
{
    CHECK(place(8, {1}, MapBy::slot) == Numbers{0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(place(8, {1, 1}, MapBy::slot) == Numbers{0, 0, 0, 0, 1, 1, 1, 1});
    CHECK(place(9, {1, 2}, MapBy::slot) == Numbers{0, 0, 0, 1, 1, 1, 1, 1, 1});
    CHECK(place(65536, {1, 1, 1}, MapBy::slot).size() == 65536);
}

TEST_CASE("nodes take turns, and full ones leave them out until all are full")
{
    CHECK(place(5, {4, 4}, MapBy::node) == Numbers{0, 1, 0, 1, 0});
    CHECK(place(6, {1, 3, 2}, MapBy::node) == Numbers{0, 1, 2, 1, 2, 1});
    CHECK(place(5, {1, 2}, MapBy::node) == Numbers{0, 1, 1, 0, 1});
    CHECK(place(2, {1, 1, 1}, MapBy::node) == Numbers{0, 1});
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
        const MapBy map_by = round % 2 == 0 ? MapBy::slot : MapBy::node;
        const Numbers node_of = place(ranks, slots, map_by);
        CAPTURE(ranks, slots, node_of);

        REQUIRE(node_of.size() == ranks);
        REQUIRE((map_by == MapBy::node || std::is_sorted(node_of.begin(), node_of.end())));
        Numbers count(slots.size());
        for (const std::uint32_t node : node_of) {
            REQUIRE(node < slots.size());
            count[node]++;
        }
        for (std::size_t node = 0; node < slots.size(); node++) {
            const std::uint32_t rounds = (ranks + total - 1) / total;
            REQUIRE(count[node] <= slots[node] * rounds);
            REQUIRE((ranks < total || count[node] >= slots[node]));
            REQUIRE((node == 0 || count[node - 1] > 0 || count[node] == 0)); // the last are empty
        }
    }
}

TEST_CASE("a host has as many slots as were said, as --ppn says, or as it has cores")
{
    const std::vector<Host> hosts{{"a", std::nullopt}, {"b", 4}};
    CHECK(slots_of(hosts, std::nullopt, MapBy::slot, {8, 8}) == Numbers{1, 4});
    CHECK(slots_of(hosts, std::nullopt, MapBy::node, {8, 8}) == Numbers{1, 4});
    CHECK(slots_of(hosts, std::nullopt, MapBy::core, {8, 8}) == Numbers{8, 4});
    CHECK(slots_of(hosts, 2, MapBy::core, {8, 8}) == Numbers{2, 2});
    CHECK(slots_of(hosts, std::nullopt, MapBy::core, {0, 0}) == Numbers{1, 4});
}

TEST_CASE("a host named twice without slots has two, or as many as it has cores")
{
    const std::vector<Host> hosts{{"a", std::nullopt, 2}, {"b", std::nullopt}};
    CHECK(slots_of(hosts, std::nullopt, MapBy::slot, {8, 8}) == Numbers{2, 1});
    CHECK(slots_of(hosts, std::nullopt, MapBy::node, {8, 8}) == Numbers{2, 1});
    CHECK(slots_of(hosts, std::nullopt, MapBy::core, {8, 8}) == Numbers{8, 8});
}
