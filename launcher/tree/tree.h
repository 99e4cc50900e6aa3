// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of the tree of daemons: the front end is its root, and each node has up to
// `fanout` others below it.  Nodes are numbered level by level; only the one on the front end's
// own machine is right below the front end whatever its number, as nobody else can start it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace unetrun {

// A node, or the front end.
using Place = std::optional<std::uint32_t>;

struct Shape {
    std::uint32_t nodes = 0; // in all
    std::uint32_t fanout = 1;
    Place here; // the node on the front end's own machine
};

std::vector<std::uint32_t> nodes_below(Place place, const Shape &shape);

// Whether `node` is `top` or somewhere below it.
bool is_within(std::uint32_t node, std::uint32_t top, const Shape &shape);

} // namespace unetrun
