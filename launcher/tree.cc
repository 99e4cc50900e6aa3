// SPDX-License-Identifier: BSD-3-Clause

#include "tree.h"

namespace unetrun {

// With the front end as number 0 and node i as i + 1, those right below number p are
// p * fanout + 1 to p * fanout + fanout.

std::vector<std::uint32_t> nodes_below(Place place, std::uint32_t fanout, std::uint32_t nodes)
{
    const std::uint64_t number = place ? std::uint64_t{*place} + 1 : 0;
    std::vector<std::uint32_t> below;
    for (std::uint64_t i = 0; i < fanout && number * fanout + i < nodes; i++)
        below.push_back(static_cast<std::uint32_t>(number * fanout + i));
    return below;
}

bool is_within(std::uint32_t node, std::uint32_t top, std::uint32_t fanout)
{
    while (node > top && node >= fanout)
        node = node / fanout - 1;
    return node == top;
}

} // namespace unetrun
