// SPDX-License-Identifier: BSD-3-Clause
//
// Fences among ranks of several nodes, at one place of the tree of daemons: gathers what the ranks
// below each branch have published.  When the parts of all branches that take part have arrived,
// all of the data goes to each of them, or to the place above if other ranks take part, too.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

class FenceGatherer {
public:
    using Answers = std::vector<std::pair<std::uint32_t, FenceDone>>; // by branch

    // What follows when a part has arrived: answers, a part for the place above, or nothing yet.
    struct Step {
        Answers answers;
        std::optional<Fence> up;
    };

    // The branch that leads to a node; none if the node is not below this place.
    using BranchTo = std::function<std::optional<std::uint32_t>(std::uint32_t node)>;

    FenceGatherer(std::vector<std::uint32_t> node_of, const BranchTo &branch_to);

    // The part of a branch has arrived.  Throws Failure if the branch has no part in that fence, or
    // has given it before.
    Step add(std::uint32_t branch, Fence fence);

    // The answer from the place above has arrived.  Throws Failure if none was awaited.
    Answers finish(const FenceDone &done);

private:
    using Parts = std::map<std::uint32_t, Fence>; // by branch

    struct Members {
        std::vector<std::uint32_t> branches; // ascending
        bool others = false;                 // ranks that are not below this place
    };

    Members members_of(const std::vector<std::uint32_t> &ranks) const;

    std::vector<std::optional<std::uint32_t>> branch_of_; // by rank
    Members all_;                                         // of a fence of all ranks
    std::map<std::vector<std::uint32_t>, Parts> open_;    // by participating ranks
    std::map<std::uint64_t, Parts> passed_on_;            // by ticket
    std::uint64_t next_ticket_ = 1;
};

} // namespace unetrun
