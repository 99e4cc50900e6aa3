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
