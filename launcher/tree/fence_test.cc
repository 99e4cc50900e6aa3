// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <optional>
#include <string>

#include "common/failure.h"
#include "tree/fence.h"
#include "tree/shape.h"

using namespace unetrun;

namespace {

using Numbers = std::vector<std::uint32_t>;

// At the root of all nodes, each a branch.
FenceGatherer at_root(const Numbers &node_of)
{
    return FenceGatherer(node_of, [](std::uint32_t node) { return node; });
}

} // namespace

TEST_CASE("a fence of all ends when the last node has come, and gives everything to each")
{
    FenceGatherer fences = at_root({0, 0, 1, 1, 2, 2});
    CHECK(fences.add(2, {30, {}, "c"}).answers.empty());
    CHECK(fences.add(0, {10, {}, "a"}).answers.empty());
    const auto step = fences.add(1, {20, {}, "b"});
    CHECK_FALSE(step.up);
    REQUIRE(step.answers.size() == 3);
    for (std::uint32_t node = 0; node < 3; node++) {
        CHECK(step.answers[node].first == node);
        CHECK(step.answers[node].second.ticket == 10 * (node + 1));
        CHECK(step.answers[node].second.good);
        CHECK(step.answers[node].second.data == "abc");
    }
}

TEST_CASE("fences of different ranks do not mix, and the same ranks may meet again")
{
    FenceGatherer fences = at_root({0, 1, 0, 1});
    CHECK(fences.add(0, {1, {1, 2}, "x"}).answers.empty());
    CHECK(fences.add(0, {2, {}, "all"}).answers.empty());
    CHECK(fences.add(1, {3, {2, 1}, "y"}).answers.size() == 2); // whatever the order
    CHECK(fences.add(1, {4, {1, 2}, "z"}).answers.empty());
    CHECK(fences.add(0, {5, {1, 2}, ""}).answers.size() == 2);
}

TEST_CASE("a fence of one node's ranks ends at once")
{
    FenceGatherer fences = at_root({0, 0, 1, 1});
    CHECK(fences.add(1, {1, {2, 3}, "x"}).answers.size() == 1);
}

TEST_CASE("a fence that cannot be is refused")
{
    FenceGatherer fences = at_root({0, 0, 1, 1});
    CHECK_THROWS_AS(fences.add(0, {1, {4}, ""}), Failure);    // no such rank
    CHECK_THROWS_AS(fences.add(0, {1, {2, 3}, ""}), Failure); // not this node's
    fences.add(0, {1, {}, ""});
    CHECK_THROWS_AS(fences.add(0, {2, {}, ""}), Failure);   // twice
    CHECK_THROWS_AS(fences.finish({7, true, ""}), Failure); // nobody is in it
}

TEST_CASE("a relay passes on one part for all its branches, and their answer to each")
{
    // nodes 1 and 2 are below, by branches 0 and 1; node 0 is elsewhere
    FenceGatherer fences({0, 1, 2}, [](std::uint32_t node) {
        return node == 0 ? std::nullopt : std::optional(node - 1);
    });
    CHECK_FALSE(fences.add(1, {20, {}, "c"}).up);
    const auto step = fences.add(0, {10, {}, "b"});
    CHECK(step.answers.empty());
    REQUIRE(step.up);
    CHECK(step.up->data == "bc");
    CHECK(step.up->ranks.empty());

    const auto answers = fences.finish({step.up->ticket, true, "abc"});
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].first == 0);
    CHECK(answers[0].second.ticket == 10);
    CHECK(answers[1].second.ticket == 20);
    CHECK(answers[1].second.data == "abc");
    CHECK_THROWS_AS(fences.finish({step.up->ticket, true, "abc"}), Failure); // only once
}

TEST_CASE("a relay answers itself when nobody from elsewhere takes part")
{
    FenceGatherer fences({0, 1, 2}, [](std::uint32_t node) {
        return node == 0 ? std::nullopt : std::optional(node - 1);
    });
    CHECK(fences.add(0, {1, {1, 2}, "b"}).answers.empty());
    const auto step = fences.add(1, {2, {1, 2}, "c"});
    CHECK_FALSE(step.up);
    CHECK(step.answers.size() == 2);
}

namespace {

constexpr std::uint32_t fan_out = 32, nodes = 2048, ranks_per_node = 32, card_bytes = 150;
const Shape shape{nodes, fan_out, {}};

// What a node's part of the tree puts, as the place above gets it.
std::string gathered(std::uint32_t node, const Numbers &node_of)
{
    const Numbers below = nodes_below(node, shape);
    const std::string own(ranks_per_node * card_bytes, 'x');
    if (below.empty())
        return own;
    FenceGatherer fences(node_of, [&](std::uint32_t other) -> std::optional<std::uint32_t> {
        if (other == node)
            return fan_out;
        for (std::uint32_t branch = 0; branch < below.size(); branch++)
            if (is_within(other, below[branch], shape))
                return branch;
        return std::nullopt;
    });
    auto step = fences.add(fan_out, {1, {}, own});
    for (std::uint32_t branch = 0; branch < below.size(); branch++)
        step = fences.add(branch, {1, {}, gathered(below[branch], node_of)});
    REQUIRE(step.up);
    return step.up->data;
}

} // namespace

TEST_CASE("the addresses of 65536 ranks on 2048 nodes come together in a tree")
{
    Numbers node_of;
    for (std::uint32_t node = 0; node < nodes; node++)
        node_of.insert(node_of.end(), ranks_per_node, node);
    std::size_t bytes = 0;
    for (const std::uint32_t node : nodes_below(std::nullopt, shape))
        bytes += gathered(node, node_of).size();
    CHECK(bytes == std::size_t{65536} * card_bytes);
}
