// SPDX-License-Identifier: BSD-3-Clause
//
// A node's part of the job: what front end and tree say, as seen from this node.
#pragma once

#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

struct NodeJob {
    NodeJob(Job whole, const Tree &in_tree);

    Job job;
    const Tree &tree;                 // outlives it
    std::vector<std::uint32_t> ranks; // of this node, ascending

    std::uint32_t node() const { return tree.node; }
    const std::string &host() const { return tree.hosts[tree.node]; }
    // Whether the node is a whole machine, and not one of several that one machine acts as.
    bool is_whole_machine() const { return job.sharing == 1; }
    std::uint32_t ranks_on_machine() const;
    std::size_t index_of(std::uint32_t rank) const; // among the node's
};

} // namespace unetrun
