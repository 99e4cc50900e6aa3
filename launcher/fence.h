// SPDX-License-Identifier: BSD-3-Clause
//
// Fences among ranks of several nodes: gathers what each node's ranks have put, and
// when all nodes have come, gives the whole to each.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "protocol.h"

namespace unetrun {

class FenceGatherer {
public:
    using Answers = std::vector<std::pair<std::uint32_t, FenceDone>>; // by node

    explicit FenceGatherer(std::vector<std::uint32_t> first_rank);

    // A node's part.  Returns the answers if it was the last one missing.  Throws
    // Failure for one that cannot be.
    Answers add(std::uint32_t node, Fence fence);

private:
    using Parts = std::map<std::uint32_t, Fence>; // by node

    std::vector<std::uint32_t> nodes_of(const std::vector<std::uint32_t> &ranks) const;

    std::vector<std::uint32_t> first_rank_;
    std::map<std::vector<std::uint32_t>, Parts> open_; // by participating ranks
};

} // namespace unetrun
