// SPDX-License-Identifier: BSD-3-Clause
//
// Passes between the nodes what their ranks tell each other by PMIx: completes fences, and brings
// questions about a rank to its node and the answers back.  Calls Branches and FenceGatherer.
#pragma once

#include "common/protocol.h"
#include "tree/branches.h"
#include "tree/fence.h"

namespace unetrun {

class Exchange {
public:
    // Both have to outlive it; the ranks of the job have their places.
    Exchange(const Job &job, Branches &branches);

    // Throws Failure for a fence in which the branch has no part.
    void on_fence(std::uint32_t branch, const Fence &fence);
    void on_modex(std::uint32_t node, Modex modex);
    void on_modex_done(const ModexDone &done);

private:
    const Job &job_;
    Branches &branches_;
    FenceGatherer fences_;
};

} // namespace unetrun
