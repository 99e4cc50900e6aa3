// SPDX-License-Identifier: BSD-3-Clause
//
// The daemon's part of finding a deadlock: watches the ranks of its node on the status board and
// tells whether all of them wait in vain.  front/deadlock_judge.h says how that becomes a verdict.
#pragma once

#include <split-c/status.h>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

class DeadlockWatch {
public:
    // To be called again and again with the state of all ranks of the node.  Tells whether they
    // have been stuck in the last few calls, and how many messages they have sent and received.
    Stuck look(const std::vector<splitc_status> &now);

private:
    std::vector<splitc_status> before_;
    int quiet_ = 0; // calls in a row that found no progress
};

} // namespace unetrun
