// SPDX-License-Identifier: BSD-3-Clause
//
// The cores of this machine that this process may use.
#pragma once

#include <hwloc.h>
#include <memory>
#include <vector>

namespace unetrun {

class Topology {
public:
    Topology();

    std::uint32_t cores() const;
    hwloc_topology_t get() const { return topology_.get(); }

private:
    struct Destroy {
        void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
    };
    std::unique_ptr<hwloc_topology, Destroy> topology_;
};

} // namespace unetrun
