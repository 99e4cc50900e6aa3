// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of the tree of daemons: the front end is its root, and each node has up to
// `fanout` others below it.  Nodes are numbered level by level.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace unetrun {

// A node, or the front end.
using Place = std::optional<std::uint32_t>;

// The nodes right below a place, of so many in all.
std::vector<std::uint32_t> nodes_below(Place place, std::uint32_t fanout, std::uint32_t nodes);

// Whether `node` is `top` or somewhere below it.
bool is_within(std::uint32_t node, std::uint32_t top, std::uint32_t fanout);

} // namespace unetrun
