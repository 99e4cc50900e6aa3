// SPDX-License-Identifier: BSD-3-Clause
//
// Where ranks run: pure functions of the job and the machines.
#pragma once

#include <cstdint>
#include <hwloc.h>
#include <optional>
#include <sched.h>
#include <string>
#include <vector>

#include "common/protocol.h"
#include "front/hosts.h"

namespace unetrun {

enum class MapBy : std::uint8_t {
    slot, // successive ranks share a node as far as its slots go
    core, // the same, and a host whose slots are not told has as many as cores
    node, // successive ranks are on successive nodes
};

// For how many ranks each host has room: `ppn` if given, what the list of hosts says, or
// what `map_by` makes of it.  `cores` are the hosts'.
std::vector<std::uint32_t> slots_of(const std::vector<Host> &hosts,
                                    std::optional<std::uint32_t> ppn, MapBy map_by,
                                    const std::vector<std::uint32_t> &cores);

// The node of each rank.  When all slots are taken, each node carries its share of what
// is over.  At least one slot in all; nodes without a rank are the last ones, if every
// node has a slot.
std::vector<std::uint32_t> place(std::uint32_t ranks, const std::vector<std::uint32_t> &slots,
                                 MapBy map_by);

// The processors of each of a machine's ranks; empty: bound to none.  Unless told otherwise,
// ranks are bound to a core each when there are enough.
std::vector<cpu_set_t> bind(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to);

// The same in words: "each bound to a core".
std::string binding_text(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to);

// How many ranks share a core, rounded up.
std::uint32_t ranks_per_core(std::uint32_t local_ranks, std::uint32_t cores);

} // namespace unetrun
