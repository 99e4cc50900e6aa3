// SPDX-License-Identifier: BSD-3-Clause

#include "front/ranks.h"

namespace unetrun {

void Ranks::on_started(const Started &started)
{
    pids_.resize(count());
    started_ += pids_[started.rank] == 0 && started.pid != 0;
    pids_[started.rank] = started.pid;
}

void Ranks::check(std::uint32_t node, std::uint32_t rank) const
{
    if (rank >= count() || plan_.job.node_of[rank] != node)
        throw Failure(exit_trouble, "a daemon speaks of a rank that is not its own");
}

std::string Ranks::name(std::uint32_t rank) const
{
    const pid_t pid = rank < pids_.size() ? pids_[rank] : 0;
    const bool remote = !plan_.tree.rsh.empty();
    return "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) +
           (remote ? " on " + plan_.tree.hosts[plan_.job.node_of[rank]] : "") + ")";
}

} // namespace unetrun
