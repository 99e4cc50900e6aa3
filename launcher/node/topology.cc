// SPDX-License-Identifier: BSD-3-Clause

#include "node/topology.h"

#include <algorithm>
#include <cstdlib>

#include "common/failure.h"

namespace unetrun {

Topology::Topology()
{
    // hwloc's plugins, for what hangs on GPUs and buses, load 15 libraries, which takes 10 ms.
    setenv("HWLOC_PLUGINS_PATH", "", 0);
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        throw system_failure("hwloc");
    topology_.reset(topology);
    // The second flag honours taskset and batch systems; it works only with the first.
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                                           HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    if (hwloc_topology_load(topology) != 0)
        throw system_failure("hwloc cannot find out about this machine's processors");
}

std::uint32_t Topology::cores() const
{
    return static_cast<std::uint32_t>(
        std::max(0, hwloc_get_nbobjs_by_type(topology_.get(), HWLOC_OBJ_CORE)));
}

} // namespace unetrun
