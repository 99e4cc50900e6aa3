// SPDX-License-Identifier: BSD-3-Clause
//
// The node's ranks as processes: which are to be started, which run, and which have called PMIx.
// A table, which calls no other part.
#pragma once

#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

#include "node/node_job.h"

namespace unetrun {

struct RankProcess {
    std::uint32_t number = 0;
    pid_t pid = 0;       // 0: not started
    bool joined = false; // it called PMIx_Init
    bool left = false;   // it called PMIx_Finalize
};

class RankTable {
public:
    explicit RankTable(const NodeJob &job); // which has to outlive it

    const std::vector<RankProcess> &all() const { return ranks_; }
    RankProcess &of(std::uint32_t number) { return ranks_.at(job_.index_of(number)); }

    bool all_started() const { return next_ == ranks_.size(); }
    std::uint32_t next() const { return ranks_[next_].number; } // to be started
    void on_started(pid_t pid);                                 // that one
    void start_no_more() { next_ = ranks_.size(); }

    bool any_runs() const { return !running_.empty(); }
    bool all_run() const { return running_.size() == ranks_.size(); }
    bool runs(const RankProcess &rank) const { return running_.count(rank.pid) != 0; }
    RankProcess *running(pid_t pid); // null: that is no rank
    void on_exited(pid_t pid) { running_.erase(pid); }
    void signal_all(int number) const; // and the process group of each

private:
    const NodeJob &job_;
    std::vector<RankProcess> ranks_; // as NodeJob::ranks
    std::size_t next_ = 0;           // index of the rank to be started
    std::unordered_map<pid_t, RankProcess *> running_;
};

} // namespace unetrun
