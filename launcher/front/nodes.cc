// SPDX-License-Identifier: BSD-3-Clause

#include "front/nodes.h"

#include <algorithm>
#include <utility>

#include "tree/shape.h"

namespace unetrun {

void Nodes::on_hello(std::uint32_t node, const Hello &hello)
{
    nodes_[node].cores = std::max(1u, hello.cores);
}

void Nodes::on_networks(std::uint32_t node, Networks networks)
{
    nodes_[node].networks = std::move(networks);
}

bool Nodes::on_lost(std::uint32_t top)
{
    bool missed = false;
    for (std::uint32_t node = 0; node < nodes_.size(); node++)
        if (is_within(node, top, shape_of(tree_)))
            missed = !std::exchange(nodes_[node].done, true) || missed;
    return missed;
}

std::size_t Nodes::started() const
{
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(),
                                                  [](const Node &node) { return node.cores > 0; }));
}

bool Nodes::ready() const
{
    const bool asked = !tree_.backends.empty();
    return std::all_of(nodes_.begin(), nodes_.end(), [=](const Node &node) {
        return node.cores > 0 && (node.networks || !asked);
    });
}

bool Nodes::all_done() const
{
    return std::all_of(nodes_.begin(), nodes_.end(), [](const Node &node) { return node.done; });
}

std::vector<std::uint32_t> Nodes::cores() const
{
    std::vector<std::uint32_t> cores;
    for (const Node &node : nodes_)
        cores.push_back(node.cores);
    return cores;
}

std::vector<Networks> Nodes::networks() const
{
    std::vector<Networks> networks;
    for (const Node &node : nodes_)
        networks.push_back(node.networks.value_or(Networks{}));
    return networks;
}

} // namespace unetrun
