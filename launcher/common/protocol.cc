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
    return !id.empty() && !arguments.empty() && !node_of.empty() &&
           std::all_of(node_of.begin(), node_of.end(), exists);
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
