// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of the job as the front end knows them: on which node each one is, its pid, and what
// messages call it.  A table, which calls no other part.
#pragma once

#include <string>
#include <vector>

#include "front/plan.h"

namespace unetrun {

class Ranks {
public:
    // `plan` has to outlive it.  There are no ranks until it has placed them.
    explicit Ranks(const Plan &plan) : plan_(plan) {}

    std::uint32_t count() const { return plan_.job.ranks(); }
    void on_started(const Started &started);
    std::uint32_t started() const { return started_; }

    // Throws Failure unless the rank is on the node; no daemon may speak of another node's ranks.
    void check(std::uint32_t node, std::uint32_t rank) const;

    // "rank 3 (pid 123 on host2)"
    std::string name(std::uint32_t rank) const;

private:
    const Plan &plan_;
    std::vector<pid_t> pids_; // by rank; 0: not started
    std::uint32_t started_ = 0;
};

} // namespace unetrun
