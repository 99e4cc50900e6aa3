// SPDX-License-Identifier: BSD-3-Clause
//
// Which node each rank runs on (--hosts, --ppn, --map-by): pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "front/hosts.h"

namespace unetrun {

enum class MapBy : std::uint8_t {
    slot, // successive ranks share a node until its slots are taken
    core, // the same; a host without a number of slots has as many as it has cores
    node, // successive ranks are on successive nodes
};

// The number of ranks for which each host has room: `ppn` if given, else what the list of hosts
// says, else what `map_by` implies.  `cores` are the numbers of the hosts' cores; only
// MapBy::core reads them.
std::vector<std::uint32_t> slots_of(const std::vector<Host> &hosts,
                                    std::optional<std::uint32_t> ppn, MapBy map_by,
                                    const std::vector<std::uint32_t> &cores);

// The node of each rank.  When all slots are taken, each node gets a share of the remaining ranks
// in proportion to its slots.  There has to be at least one slot.  If every node has a slot, the
// nodes without a rank are the last ones.
std::vector<std::uint32_t> place(std::uint32_t ranks, const std::vector<std::uint32_t> &slots,
                                 MapBy map_by);

} // namespace unetrun
