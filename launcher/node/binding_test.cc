// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "node/binding.h"

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
    std::vector<Numbers> bound(std::uint32_t ranks, BindTo bind_to, std::uint32_t cores = 1) const
    {
        std::vector<Numbers> lists;
        for (const cpu_set_t &set : bind(ranks, topology_, bind_to, cores)) {
            lists.emplace_back();
            for (std::uint32_t i = 0; i < CPU_SETSIZE; i++)
                if (CPU_ISSET(i, &set))
                    lists.back().push_back(i);
        }
        return lists;
    }

    std::string binding(std::uint32_t ranks, BindTo bind_to, std::uint32_t cores = 1) const
    {
        return binding_text(ranks, topology_, bind_to, cores);
    }

private:
    hwloc_topology_t topology_;
};

using Lists = std::vector<Numbers>;

} // namespace

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

TEST_CASE("L3 caches and NUMA nodes get equal blocks of ranks, too")
{
    const Machine four("package:1 numa:2 l3:2 core:2 pu:1");
    CHECK(four.bound(2, BindTo::numa) == Lists{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(four.bound(4, BindTo::l3) == Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
    CHECK(four.binding(4, BindTo::l3) == "each bound to an L3 cache");
    CHECK(four.binding(4, BindTo::numa) == "each bound to a NUMA node");
    CHECK(Machine("core:2 pu:1").bound(2, BindTo::l3).empty());
}

TEST_CASE("ranks may have several cores each")
{
    const Machine four("core:4 pu:2");
    CHECK(four.bound(2, BindTo::core, 2) == Lists{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(four.bound(2, BindTo::core, 3) == Lists{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 6, 7}});
    CHECK(four.bound(1, BindTo::core, 9) == Lists{{0, 1, 2, 3, 4, 5, 6, 7}});
    CHECK(four.binding(2, BindTo::core, 2) == "each bound to 2 cores");
    CHECK(four.binding(2, BindTo::core, 3) == "bound to 4 cores, up to 2 to a core");
}

TEST_CASE("processors in words")
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(3, &set);
    CHECK(processors_text(&set) == "processor 3");
    for (const int i : {4, 5, 9, CPU_SETSIZE - 1})
        CPU_SET(i, &set);
    CHECK(processors_text(&set) == "processors 3-5,9," + std::to_string(CPU_SETSIZE - 1));
    CHECK(processors_text(nullptr) == "all processors");
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
