// SPDX-License-Identifier: BSD-3-Clause

#include "front/placement.h"

#include <algorithm>
#include <numeric>

namespace unetrun {

std::vector<std::uint32_t> slots_of(const std::vector<Host> &hosts,
                                    std::optional<std::uint32_t> ppn, MapBy map_by,
                                    const std::vector<std::uint32_t> &cores)
{
    std::vector<std::uint32_t> slots;
    for (std::size_t i = 0; i < hosts.size(); i++) {
        const std::uint32_t usual = map_by == MapBy::core ? std::max(1u, cores[i]) : hosts[i].times;
        slots.push_back(ppn ? *ppn : hosts[i].slots.value_or(usual));
    }
    return slots;
}

namespace {

// Nodes one after the other, each to its last slot; or to its share.
std::vector<std::uint32_t> place_in_blocks(std::uint32_t ranks,
                                           const std::vector<std::uint32_t> &slots)
{
    const std::uint64_t total = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
    std::vector<std::uint32_t> node_of;
    std::uint64_t before = 0;
    for (std::uint32_t node = 0; node < slots.size(); node++) {
        before += slots[node];
        const std::uint64_t end = ranks <= total ? before : before * ranks / total;
        node_of.resize(std::min<std::uint64_t>(end, ranks), node);
    }
    return node_of;
}

// Round after round, leaving out nodes that are full until all are.
std::vector<std::uint32_t> place_in_turn(std::uint32_t ranks,
                                         const std::vector<std::uint32_t> &slots)
{
    std::vector<std::uint32_t> node_of, left = slots;
    while (node_of.size() < ranks) {
        const std::size_t before = node_of.size();
        for (std::uint32_t node = 0; node < slots.size() && node_of.size() < ranks; node++)
            if (left[node] > 0) {
                left[node]--;
                node_of.push_back(node);
            }
        if (node_of.size() == before)
            left = slots;
    }
    return node_of;
}

} // namespace

std::vector<std::uint32_t> place(std::uint32_t ranks, const std::vector<std::uint32_t> &slots,
                                 MapBy map_by)
{
    return map_by == MapBy::node ? place_in_turn(ranks, slots) : place_in_blocks(ranks, slots);
}

} // namespace unetrun
