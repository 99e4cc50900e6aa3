// SPDX-License-Identifier: BSD-3-Clause
//
// Where ranks run: pure functions of the job and the machines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol.h"

namespace unetrun {

// Gives each node a block of successive ranks: the first rank of each node, and the
// number of ranks at the end.  Nodes are filled in order as far as their slots go; when
// all are full, each carries its share.  At least one slot in all.
std::vector<std::uint32_t> place(std::uint32_t ranks, const std::vector<std::uint32_t> &slots);

// The node of a rank below the last entry of `first_rank`.
std::uint32_t node_of(const std::vector<std::uint32_t> &first_rank, std::uint32_t rank);

// The core of each of a node's ranks; empty: bound to none.  Unless told otherwise,
// ranks are bound when each can have a core of its own.
std::vector<std::uint32_t> bind(std::uint32_t local_ranks, std::uint32_t cores, BindTo bind_to);

// How many ranks share a core, rounded up.
std::uint32_t ranks_per_core(std::uint32_t local_ranks, std::uint32_t cores);

} // namespace unetrun
