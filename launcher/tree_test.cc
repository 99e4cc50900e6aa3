// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "tree.h"

using namespace unetrun;
using Numbers = std::vector<std::uint32_t>;

TEST_CASE("the front end has the first nodes below it, and each node the next ones")
{
    CHECK(nodes_below(std::nullopt, 2, 7) == Numbers{0, 1});
    CHECK(nodes_below(0, 2, 7) == Numbers{2, 3});
    CHECK(nodes_below(1, 2, 7) == Numbers{4, 5});
    CHECK(nodes_below(2, 2, 7) == Numbers{6});
    CHECK(nodes_below(3, 2, 7).empty());
    CHECK(nodes_below(std::nullopt, 32, 3) == Numbers{0, 1, 2});
    CHECK(nodes_below(5, 1, 7) == Numbers{6});
    CHECK(nodes_below(4000000000u, 4000000000u, 4294967295u).empty());
}

TEST_CASE("every node is below one place, and within what is above it")
{
    for (const std::uint32_t fanout : {1u, 2u, 3u, 32u}) {
        const std::uint32_t nodes = 100;
        Numbers above(nodes, nodes);
        for (const std::uint32_t node : nodes_below(std::nullopt, fanout, nodes))
            above[node] = node;
        for (std::uint32_t place = 0; place < nodes; place++)
            for (const std::uint32_t node : nodes_below(place, fanout, nodes)) {
                REQUIRE(above[node] == nodes); // by nobody else
                REQUIRE(place < node);
                above[node] = place;
            }
        for (std::uint32_t node = 0; node < nodes; node++) {
            REQUIRE(above[node] < nodes);
            Numbers path{node};
            while (above[path.back()] != path.back())
                path.push_back(above[path.back()]);
            for (std::uint32_t top = 0; top < nodes; top++) {
                CAPTURE(fanout, node, top);
                const bool on_path = std::find(path.begin(), path.end(), top) != path.end();
                REQUIRE(is_within(node, top, fanout) == on_path);
            }
        }
    }
}
