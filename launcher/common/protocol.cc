// SPDX-License-Identifier: BSD-3-Clause

#include "common/protocol.h"

#include <algorithm>

namespace unetrun {

bool Tree::valid() const
{
    return fanout > 0 && node < hosts.size() && (here < hosts.size() || here == every_node) &&
           (rsh.empty() || !unetrun.empty());
}

bool Job::valid() const
{
    const auto exists = [this](std::uint32_t n) { return n < hosts.size(); };
    std::uint64_t ranks_of_programs = 0;
    for (const Program &program : programs) {
        if (program.ranks == 0 || program.arguments.empty())
            return false;
        ranks_of_programs += program.ranks;
    }
    return !id.empty() && !programs.empty() && ranks_of_programs == node_of.size() &&
           std::all_of(node_of.begin(), node_of.end(), exists);
}

std::size_t Job::program_of(std::uint32_t rank) const
{
    std::size_t program = 0;
    for (; rank >= programs[program].ranks; program++)
        rank -= programs[program].ranks;
    return program;
}

std::uint32_t Job::first_rank_of(std::size_t program) const
{
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < program; i++)
        first += programs[i].ranks;
    return first;
}

std::vector<std::uint32_t> Job::ranks_of(std::uint32_t of) const
{
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < node_of.size(); rank++)
        if (node_of[rank] == of)
            ranks.push_back(rank);
    return ranks;
}

std::string protocol_version()
{
    return UNETRUN_VERSION;
}

} // namespace unetrun
