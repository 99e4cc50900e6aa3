// SPDX-License-Identifier: BSD-3-Clause

#include "tree/shape.h"

#include <algorithm>

namespace unetrun {

Shape shape_of(const Tree &tree)
{
    const auto nodes = static_cast<std::uint32_t>(tree.hosts.size());
    return {nodes, tree.rsh.empty() ? nodes : tree.fanout,
            tree.here < nodes ? Place(tree.here) : std::nullopt};
}

// With the front end as number 0 and node i as i + 1, those right below number p are
// p * fanout + 1 to p * fanout + fanout.

std::vector<std::uint32_t> nodes_below(Place place, const Shape &shape)
{
    const std::uint64_t number = place ? std::uint64_t{*place} + 1 : 0;
    std::vector<std::uint32_t> below;
    for (std::uint64_t i = 0; i < shape.fanout && number * shape.fanout + i < shape.nodes; i++)
        if (const auto node = static_cast<std::uint32_t>(number * shape.fanout + i);
            node != shape.here)
            below.push_back(node);
    if (!place && shape.here)
        below.insert(std::lower_bound(below.begin(), below.end(), *shape.here), *shape.here);
    return below;
}

bool is_within(std::uint32_t node, std::uint32_t top, const Shape &shape)
{
    while (node > top && node >= shape.fanout && node != shape.here)
        node = node / shape.fanout - 1;
    return node == top;
}

} // namespace unetrun
