// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_table.h"

#include <signal.h>

namespace unetrun {

RankTable::RankTable(const NodeJob &job) : job_(job)
{
    for (const std::uint32_t number : job.ranks)
        ranks_.emplace_back().number = number;
}

void RankTable::on_started(pid_t pid)
{
    RankProcess &rank = ranks_[next_++];
    rank.pid = pid;
    running_.emplace(pid, &rank);
}

RankProcess *RankTable::running(pid_t pid)
{
    const auto found = running_.find(pid);
    return found == running_.end() ? nullptr : found->second;
}

void RankTable::signal_all(int number) const
{
    for (const auto &[pid, rank] : running_)
        kill(-pid, number);
}

} // namespace unetrun
