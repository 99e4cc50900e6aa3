// SPDX-License-Identifier: BSD-3-Clause

#include "node/binding.h"

#include <algorithm>
#include <hwloc/glibc-sched.h>

namespace unetrun {

namespace {

std::uint32_t number_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return static_cast<std::uint32_t>(std::max(0, hwloc_get_nbobjs_by_type(topology, type)));
}

void add_processors(cpu_set_t &set, hwloc_topology_t topology, hwloc_obj_type_t type,
                    std::uint32_t index)
{
    cpu_set_t more;
    CPU_ZERO(&more);
    if (const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, index))
        hwloc_cpuset_to_glibc_sched_affinity(topology, object->cpuset, &more, sizeof more);
    CPU_OR(&set, &set, &more);
}

struct Unit {
    BindTo bind_to;
    hwloc_obj_type_t type;
    const char *name;
};

constexpr Unit units[] = {{BindTo::automatic, HWLOC_OBJ_CORE, "core"},
                          {BindTo::core, HWLOC_OBJ_CORE, "core"},
                          {BindTo::l3, HWLOC_OBJ_L3CACHE, "L3 cache"},
                          {BindTo::numa, HWLOC_OBJ_NUMANODE, "NUMA node"},
                          {BindTo::socket, HWLOC_OBJ_PACKAGE, "socket"}};

// What there is to bind the ranks to, or null.
const Unit *unit_of(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to)
{
    const auto unit = std::find_if(std::begin(units), std::end(units),
                                   [&](const Unit &one) { return one.bind_to == bind_to; });
    const std::uint32_t count = unit == std::end(units) ? 0 : number_of(topology, unit->type);
    const bool enough = count > 0 && (bind_to != BindTo::automatic || ranks <= count);
    return enough ? unit : nullptr;
}

// Cores are taken in order, as many for each rank.
cpu_set_t cores_of(std::uint32_t rank, hwloc_topology_t topology, std::uint32_t cores)
{
    const std::uint32_t all = number_of(topology, HWLOC_OBJ_CORE);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::uint64_t i = 0; i < cores && i < all; i++)
        add_processors(set, topology, HWLOC_OBJ_CORE,
                       static_cast<std::uint32_t>((std::uint64_t{rank} * cores + i) % all));
    return set;
}

// Larger units get equal blocks of ranks.
cpu_set_t unit_of_block(std::uint32_t rank, std::uint32_t ranks, hwloc_topology_t topology,
                        hwloc_obj_type_t type)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    add_processors(
        set, topology, type,
        static_cast<std::uint32_t>(std::uint64_t{rank} * number_of(topology, type) / ranks));
    return set;
}

} // namespace

std::vector<cpu_set_t> bind(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to,
                            std::uint32_t cores)
{
    const Unit *unit = unit_of(ranks, topology, bind_to);
    std::vector<cpu_set_t> sets;
    for (std::uint32_t rank = 0; unit && rank < ranks; rank++)
        sets.push_back(unit->type == HWLOC_OBJ_CORE
                           ? cores_of(rank, topology, cores)
                           : unit_of_block(rank, ranks, topology, unit->type));
    return sets;
}

std::string binding_text(std::uint32_t ranks, hwloc_topology_t topology, BindTo bind_to,
                         std::uint32_t cores)
{
    const Unit *unit = unit_of(ranks, topology, bind_to);
    const std::uint32_t all = number_of(topology, HWLOC_OBJ_CORE);
    if (!unit)
        return "not bound";
    if (unit->type != HWLOC_OBJ_CORE)
        return std::string("each bound to ") + (bind_to == BindTo::l3 ? "an " : "a ") + unit->name;
    if (std::uint64_t{ranks} * cores <= all)
        return "each bound to " + (cores == 1 ? "a core" : std::to_string(cores) + " cores");
    return "bound to " + (all == 1 ? "1 core" : std::to_string(all) + " cores") +
           (ranks * cores % all == 0 ? ", " : ", up to ") +
           std::to_string(ranks_per_core(ranks * cores, all)) + " to a core";
}

std::string processors_text(const cpu_set_t *set)
{
    std::string text;
    if (!set)
        return "all processors";
    for (int first = 0, last; first < CPU_SETSIZE; first = last + 1) {
        for (last = first; last < CPU_SETSIZE && CPU_ISSET(last, set); last++)
            ;
        if (last == first)
            continue;
        text += (text.empty() ? "" : ",") + std::to_string(first) +
                (last - 1 > first ? "-" + std::to_string(last - 1) : "");
    }
    return (CPU_COUNT(set) == 1 ? "processor " : "processors ") + text;
}

std::uint32_t ranks_per_core(std::uint32_t local_ranks, std::uint32_t cores)
{
    return cores == 0 ? local_ranks : (local_ranks + cores - 1) / cores;
}

} // namespace unetrun
