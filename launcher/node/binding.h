// SPDX-License-Identifier: BSD-3-Clause
//
// Which processors the ranks of a machine are bound to (--bind-to).
#pragma once

#include <cstdint>
#include <hwloc.h>
#include <sched.h>
#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// The processors of each rank; an empty list if the ranks are bound to none.  BindTo::automatic
// binds each rank to a core if there are enough cores; `cores` are those of each rank with
// BindTo::core.
std::vector<cpu_set_t> bind(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to,
                            std::uint32_t cores = 1);

// The same in words for the user: "each bound to a core".
std::string binding_text(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to,
                         std::uint32_t cores = 1);

// Processors in words: "processors 0-3,8", "all processors" if there is no set.
std::string processors_text(const cpu_set_t *set);

// How many ranks share a core, rounded up.
std::uint32_t ranks_per_core(std::uint32_t local_ranks, std::uint32_t cores);

} // namespace unetrun
