// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "tree/shape.h"

using namespace unetrun;
using Numbers = std::vector<std::uint32_t>;

TEST_CASE("the front end has the first nodes below it, and each node the next ones")
{
    CHECK(nodes_below({}, {7, 2, {}}) == Numbers{0, 1});
    CHECK(nodes_below(0, {7, 2, {}}) == Numbers{2, 3});
    CHECK(nodes_below(1, {7, 2, {}}) == Numbers{4, 5});
    CHECK(nodes_below(2, {7, 2, {}}) == Numbers{6});
    CHECK(nodes_below(3, {7, 2, {}}).empty());
    CHECK(nodes_below({}, {3, 32, {}}) == Numbers{0, 1, 2});
    CHECK(nodes_below(5, {7, 1, {}}) == Numbers{6});
    CHECK(nodes_below(4000000000u, {4294967295u, 4000000000u, {}}).empty());
}

TEST_CASE("the node on the front end's own machine is right below it, with those below that one")
{
    CHECK(nodes_below({}, {7, 2, 0}) == Numbers{0, 1});
    CHECK(nodes_below({}, {7, 2, 4}) == Numbers{0, 1, 4});
    CHECK(nodes_below(1, {7, 2, 4}) == Numbers{5});
    CHECK(nodes_below(1, {12, 2, 4}) == Numbers{5});
    CHECK(nodes_below(4, {12, 2, 4}) == Numbers{10, 11});
}

TEST_CASE("every node is below one place, and within what is above it")
{
    const std::uint32_t nodes = 100;
    for (const std::uint32_t fanout : {1u, 2u, 3u, 32u})
        for (const Place here : {Place(), Place(0), Place(1), Place(40), Place(99)}) {
            const Shape shape{nodes, fanout, here};
            Numbers above(nodes, nodes);
            for (const std::uint32_t node : nodes_below(std::nullopt, shape))
                above[node] = node;
            REQUIRE((!here || above[*here] == *here));
            for (std::uint32_t place = 0; place < nodes; place++)
                for (const std::uint32_t node : nodes_below(place, shape)) {
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
                    REQUIRE(is_within(node, top, shape) == on_path);
                }
            }
        }
}
