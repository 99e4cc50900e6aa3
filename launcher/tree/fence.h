// SPDX-License-Identifier: BSD-3-Clause
//
// Fences among ranks of several nodes, at one place of the tree of daemons: gathers what
// the ranks of each branch have put.  When all branches have come that take part, the
// whole goes to each of them; or to the place above, if ranks from elsewhere take part.
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

    // What follows from a part: answers, or a part for the place above; or neither yet.
    struct Step {
        Answers answers;
        std::optional<Fence> up;
    };

    // The branch that leads to a node; none: it is elsewhere.
    using BranchTo = std::function<std::optional<std::uint32_t>(std::uint32_t node)>;

    FenceGatherer(std::vector<std::uint32_t> node_of, const BranchTo &branch_to);

    // A branch's part.  Throws Failure for one that cannot be.
    Step add(std::uint32_t branch, Fence fence);

    // The answer from above.
    Answers finish(const FenceDone &done);

private:
    using Parts = std::map<std::uint32_t, Fence>; // by branch

    struct Members {
        std::vector<std::uint32_t> branches; // ascending
        bool others = false;                 // from elsewhere
    };

    Members members_of(const std::vector<std::uint32_t> &ranks) const;

    std::vector<std::optional<std::uint32_t>> branch_of_; // each rank's
    Members all_;                                         // of a fence of all ranks
    std::map<std::vector<std::uint32_t>, Parts> open_;    // by participating ranks
    std::map<std::uint64_t, Parts> passed_on_;            // by ticket
    std::uint64_t next_ticket_ = 1;
};

} // namespace unetrun
