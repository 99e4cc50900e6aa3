// SPDX-License-Identifier: BSD-3-Clause

#include "node/binding.h"

#include <algorithm>
#include <hwloc/glibc-sched.h>

namespace unetrun {

namespace {

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
