// SPDX-License-Identifier: BSD-3-Clause

#include "tree/fence.h"

#include <algorithm>

namespace unetrun {

FenceGatherer::FenceGatherer(std::vector<std::uint32_t> node_of, const BranchTo &branch_to)
{
    std::map<std::uint32_t, std::optional<std::uint32_t>> known;
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t node : node_of) {
        if (known.count(node) == 0)
            known[node] = branch_to(node);
        ranks.push_back(static_cast<std::uint32_t>(branch_of_.size()));
        branch_of_.push_back(known[node]);
    }
    all_ = members_of(ranks);
}

FenceGatherer::Members FenceGatherer::members_of(const std::vector<std::uint32_t> &ranks) const
{
    Members members;
    for (const std::uint32_t rank : ranks) {
        if (rank >= branch_of_.size())
            throw Failure(exit_trouble,
                          "a fence names rank " + std::to_string(rank) + ", which does not exist");
        if (branch_of_[rank])
            members.branches.push_back(*branch_of_[rank]);
        else
            members.others = true;
    }
    auto &branches = members.branches;
    std::sort(branches.begin(), branches.end());
    branches.erase(std::unique(branches.begin(), branches.end()), branches.end());
    return members;
}

namespace {

template <class Parts>
FenceGatherer::Answers answer(const Parts &parts, bool good, const std::string &data)
{
    FenceGatherer::Answers answers;
    for (const auto &[branch, part] : parts)
        answers.push_back({branch, FenceDone{part.ticket, good, data}});
    return answers;
}

} // namespace

FenceGatherer::Step FenceGatherer::add(std::uint32_t branch, Fence fence)
{
    std::sort(fence.ranks.begin(), fence.ranks.end());
    const std::vector<std::uint32_t> ranks = fence.ranks;
    const Members members = ranks.empty() ? all_ : members_of(ranks);
    Parts &parts = open_[ranks];
    if (!std::binary_search(members.branches.begin(), members.branches.end(), branch) ||
        !parts.emplace(branch, std::move(fence)).second)
        throw Failure(exit_trouble, "a daemon entered a fence in which it has no part");
    if (parts.size() < members.branches.size())
        return {};
    std::string data;
    for (auto &[from, part] : parts)
        data += std::exchange(part.data, {});
    const Parts complete = std::move(parts);
    open_.erase(ranks);
    if (!members.others)
        return {answer(complete, true, data), std::nullopt};
    passed_on_.emplace(next_ticket_, complete);
    return {{}, Fence{next_ticket_++, ranks, data}};
}

FenceGatherer::Answers FenceGatherer::finish(const FenceDone &done)
{
    const auto found = passed_on_.find(done.ticket);
    if (found == passed_on_.end())
        throw Failure(exit_trouble, "the answer to a fence that nobody is in arrived");
    const Answers answers = answer(found->second, done.good, done.data);
    passed_on_.erase(found);
    return answers;
}

} // namespace unetrun
