// SPDX-License-Identifier: BSD-3-Clause

#include "node/node_job.h"

#include <algorithm>

namespace unetrun {

NodeJob::NodeJob(Job whole, const Tree &in_tree)
    : job(std::move(whole)), tree(in_tree), ranks(job.ranks_of(in_tree.node))
{
}

std::uint32_t NodeJob::ranks_on_machine() const
{
    return is_whole_machine() ? static_cast<std::uint32_t>(ranks.size()) : job.ranks();
}

std::size_t NodeJob::index_of(std::uint32_t rank) const
{
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return static_cast<std::size_t>(found - ranks.begin());
}

} // namespace unetrun
