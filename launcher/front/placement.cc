// SPDX-License-Identifier: BSD-3-Clause

#include "front/placement.h"

#include <algorithm>
#include <hwloc/glibc-sched.h>
#include <numeric>

namespace unetrun {

std::vector<std::uint32_t> slots_of(const std::vector<Host> &hosts,
                                    std::optional<std::uint32_t> ppn, MapBy map_by,
                                    const std::vector<std::uint32_t> &cores)
{
    std::vector<std::uint32_t> slots;
    for (std::size_t i = 0; i < hosts.size(); i++) {
        const std::uint32_t usual = map_by == MapBy::core ? std::max(1u, cores[i]) : hosts[i].times;
        slots.push_back(ppn ? *ppn : hosts[i].slots.value_or(usual));
    }
    return slots;
}

namespace {

// Nodes one after the other, each to its last slot; or to its share.
std::vector<std::uint32_t> place_in_blocks(std::uint32_t ranks,
                                           const std::vector<std::uint32_t> &slots)
{
    const std::uint64_t total = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
    std::vector<std::uint32_t> node_of;
    std::uint64_t before = 0;
    for (std::uint32_t node = 0; node < slots.size(); node++) {
        before += slots[node];
        const std::uint64_t end = ranks <= total ? before : before * ranks / total;
        node_of.resize(std::min<std::uint64_t>(end, ranks), node);
    }
    return node_of;
}

// Round after round, leaving out nodes that are full until all are.
std::vector<std::uint32_t> place_in_turn(std::uint32_t ranks,
                                         const std::vector<std::uint32_t> &slots)
{
    std::vector<std::uint32_t> node_of, left = slots;
    while (node_of.size() < ranks) {
        const std::size_t before = node_of.size();
        for (std::uint32_t node = 0; node < slots.size() && node_of.size() < ranks; node++)
            if (left[node] > 0) {
                left[node]--;
                node_of.push_back(node);
            }
        if (node_of.size() == before)
            left = slots;
    }
    return node_of;
}

cpu_set_t processors_of(hwloc_topology_t topology, hwloc_obj_type_t type, std::uint32_t index)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, index))
        hwloc_cpuset_to_glibc_sched_affinity(topology, object->cpuset, &set, sizeof set);
    return set;
}

std::uint32_t number_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return static_cast<std::uint32_t>(std::max(0, hwloc_get_nbobjs_by_type(topology, type)));
}

hwloc_obj_type_t unit_of(BindTo bind_to)
{
    return bind_to == BindTo::socket ? HWLOC_OBJ_PACKAGE : HWLOC_OBJ_CORE;
}

// Whether there is anything to bind the ranks to.
bool binds(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to)
{
    const std::uint32_t units = number_of(topology, unit_of(bind_to));
    return units > 0 && bind_to != BindTo::none && (bind_to != BindTo::automatic || ranks <= units);
}

} // namespace

std::vector<std::uint32_t> place(std::uint32_t ranks, const std::vector<std::uint32_t> &slots,
                                 MapBy map_by)
{
    return map_by == MapBy::node ? place_in_turn(ranks, slots) : place_in_blocks(ranks, slots);
}

// Cores are taken in order, sockets in equal blocks of ranks.
std::vector<cpu_set_t> bind(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to)
{
    if (!binds(ranks, topology, bind_to))
        return {};
    const hwloc_obj_type_t type = unit_of(bind_to);
    const std::uint32_t units = number_of(topology, type);
    std::vector<cpu_set_t> sets;
    for (std::uint32_t i = 0; i < ranks; i++)
        sets.push_back(processors_of(
            topology, type,
            bind_to == BindTo::socket ? static_cast<std::uint32_t>(std::uint64_t{i} * units / ranks)
                                      : i % units));
    return sets;
}

std::string binding_text(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to)
{
    const std::uint32_t cores = number_of(topology, HWLOC_OBJ_CORE);
    if (!binds(ranks, topology, bind_to))
        return "not bound";
    if (bind_to == BindTo::socket)
        return "each bound to a socket";
    if (ranks <= cores)
        return "each bound to a core";
    return "bound to " + (cores == 1 ? "1 core" : std::to_string(cores) + " cores") +
           (ranks % cores == 0 ? ", " : ", up to ") + std::to_string(ranks_per_core(ranks, cores)) +
           " to a core";
}

std::uint32_t ranks_per_core(std::uint32_t local_ranks, std::uint32_t cores)
{
    return cores == 0 ? local_ranks : (local_ranks + cores - 1) / cores;
}

} // namespace unetrun
