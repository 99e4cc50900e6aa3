// SPDX-License-Identifier: BSD-3-Clause

#include "fence.h"

#include <algorithm>

#include "failure.h"
#include "placement.h"

namespace unetrun {

FenceGatherer::FenceGatherer(std::vector<std::uint32_t> first_rank)
    : first_rank_(std::move(first_rank))
{
}

std::vector<std::uint32_t> FenceGatherer::nodes_of(const std::vector<std::uint32_t> &ranks) const
{
    std::vector<std::uint32_t> nodes;
    for (const std::uint32_t rank : ranks) {
        if (rank >= first_rank_.back())
            throw Failure(exit_trouble,
                          "a fence names rank " + std::to_string(rank) + ", which does not exist");
        nodes.push_back(node_of(first_rank_, rank));
    }
    for (std::uint32_t node = 0; ranks.empty() && node + 1 < first_rank_.size(); node++)
        nodes.push_back(node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
}

FenceGatherer::Answers FenceGatherer::add(std::uint32_t node, Fence fence)
{
    std::sort(fence.ranks.begin(), fence.ranks.end());
    const std::vector<std::uint32_t> ranks = fence.ranks;
    const std::vector<std::uint32_t> nodes = nodes_of(ranks);
    Parts &parts = open_[ranks];
    if (!std::binary_search(nodes.begin(), nodes.end(), node) ||
        !parts.emplace(node, std::move(fence)).second)
        throw Failure(exit_trouble,
                      "node " + std::to_string(node) + " entered a fence in which it has no part");
    if (parts.size() < nodes.size())
        return {};
    std::string data;
    for (const auto &[from, part] : parts)
        data += part.data;
    Answers answers;
    for (const auto &[to, part] : parts)
        answers.push_back({to, FenceDone{part.ticket, true, data}});
    open_.erase(ranks);
    return answers;
}

} // namespace unetrun
