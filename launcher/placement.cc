// SPDX-License-Identifier: BSD-3-Clause

#include "placement.h"

#include <algorithm>
#include <numeric>

namespace unetrun {

std::vector<std::uint32_t> place(std::uint32_t ranks, const std::vector<std::uint32_t> &slots)
{
    const std::uint64_t total = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
    std::vector<std::uint32_t> first_rank{0};
    std::uint64_t before = 0;
    for (const std::uint32_t here : slots) {
        before += here;
        const std::uint64_t next = ranks <= total ? before : before * ranks / total;
        first_rank.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(next, ranks)));
    }
    return first_rank;
}

std::uint32_t node_of(const std::vector<std::uint32_t> &first_rank, std::uint32_t rank)
{
    const auto after = std::upper_bound(first_rank.begin(), first_rank.end(), rank);
    return static_cast<std::uint32_t>(after - first_rank.begin()) - 1;
}

std::vector<std::uint32_t> bind(std::uint32_t local_ranks, std::uint32_t cores, BindTo bind_to)
{
    if (cores == 0 || bind_to == BindTo::none ||
        (bind_to == BindTo::automatic && local_ranks > cores))
        return {};
    std::vector<std::uint32_t> core(local_ranks);
    for (std::uint32_t i = 0; i < local_ranks; i++)
        core[i] = i % cores;
    return core;
}

std::uint32_t ranks_per_core(std::uint32_t local_ranks, std::uint32_t cores)
{
    return cores == 0 ? local_ranks : (local_ranks + cores - 1) / cores;
}

} // namespace unetrun
