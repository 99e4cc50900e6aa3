// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of the tree of daemons.  The front end is its root, and each node has up to `fanout`
// other nodes below it.  Nodes are numbered level by level.  There is one exception: the node on
// the front end's own machine is right below the front end whatever its number, as nobody else can
// start it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// A place in the tree: a node, or the front end (none).
using Place = std::optional<std::uint32_t>;

struct Shape {
    std::uint32_t nodes = 0; // in all
    std::uint32_t fanout = 1;
    Place here; // the node on the front end's own machine
};

// If all nodes are this machine, all of them are right below the front end.
Shape shape_of(const Tree &tree);

// The nodes right below a place, in ascending order.
std::vector<std::uint32_t> nodes_below(Place place, const Shape &shape);

// Whether `node` is `top` or anywhere below it.
bool is_within(std::uint32_t node, std::uint32_t top, const Shape &shape);

} // namespace unetrun
