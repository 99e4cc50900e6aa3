// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "front/placement.h"

using namespace unetrun;
using Numbers = std::vector<std::uint32_t>;

namespace {

// A stored topology, as hwloc describes machines.
class Machine {
public:
    explicit Machine(const char *description)
    {
        hwloc_topology_init(&topology_);
        REQUIRE(hwloc_topology_set_synthetic(topology_, description) == 0);
        REQUIRE(hwloc_topology_load(topology_) == 0);
    }
    ~Machine() { hwloc_topology_destroy(topology_); }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    // The processors of each rank.
    std::vector<Numbers> bound(std::uint32_t ranks, BindTo bind_to) const
    {
        std::vector<Numbers> lists;
        for (const cpu_set_t &set : bind(ranks, topology_, bind_to)) {
            lists.emplace_back();
            for (std::uint32_t i = 0; i < CPU_SETSIZE; i++)
                if (CPU_ISSET(i, &set))
                    lists.back().push_back(i);
        }
        return lists;
    }

    std::string binding(std::uint32_t ranks, BindTo bind_to) const
    {
        return binding_text(ranks, topology_, bind_to);
    }

private:
    hwloc_topology_t topology_;
};

using Lists = std::vector<Numbers>;

} // namespace

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

TEST_CASE("ranks are bound to cores when each can have one, or when told so")
{
    const Machine quad("core:4 pu:1");
    CHECK(quad.bound(2, BindTo::automatic) == Lists{{0}, {1}});
    CHECK(quad.bound(4, BindTo::automatic) == Lists{{0}, {1}, {2}, {3}});
    CHECK(quad.bound(5, BindTo::automatic).empty());
    CHECK(quad.bound(2, BindTo::none).empty());
    CHECK(quad.bound(5, BindTo::core) == Lists{{0}, {1}, {2}, {3}, {0}});
}

TEST_CASE("a rank gets all hardware threads of its core")
{
    CHECK(Machine("core:2 pu:2").bound(2, BindTo::core) == Lists{{0, 1}, {2, 3}});
}

TEST_CASE("sockets get equal blocks of ranks")
{
    const Machine two("package:2 core:2 pu:1");
    CHECK(two.bound(4, BindTo::socket) == Lists{{0, 1}, {0, 1}, {2, 3}, {2, 3}});
    CHECK(two.bound(2, BindTo::socket) == Lists{{0, 1}, {2, 3}});
    CHECK(two.bound(3, BindTo::socket) == Lists{{0, 1}, {0, 1}, {2, 3}});
}

TEST_CASE("ranks per core are rounded up")
{
    CHECK(ranks_per_core(1, 2) == 1);
    CHECK(ranks_per_core(2, 2) == 1);
    CHECK(ranks_per_core(3, 2) == 2);
    CHECK(ranks_per_core(8, 2) == 4);
    CHECK(ranks_per_core(3, 0) == 3);
}

TEST_CASE("what is said of a binding is what it is")
{
    const Machine quad("package:2 core:2 pu:1"), one("core:1 pu:2");
    CHECK(quad.binding(2, BindTo::automatic) == "each bound to a core");
    CHECK(quad.binding(4, BindTo::core) == "each bound to a core");
    CHECK(quad.binding(5, BindTo::automatic) == "not bound");
    CHECK(quad.binding(4, BindTo::none) == "not bound");
    CHECK(quad.binding(5, BindTo::core) == "bound to 4 cores, up to 2 to a core");
    CHECK(quad.binding(8, BindTo::core) == "bound to 4 cores, 2 to a core");
    CHECK(quad.binding(8, BindTo::socket) == "each bound to a socket");
    CHECK(one.binding(2, BindTo::core) == "bound to 1 core, 2 to a core");
}
