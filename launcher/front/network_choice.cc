// SPDX-License-Identifier: BSD-3-Clause

#include "front/network_choice.h"

#include "common/environment.h"

namespace unetrun {

std::vector<std::string> backends_to_try(const std::vector<std::string> &environment)
{
    const std::string told = value_of(environment, "SPLITC_BACKEND");
    if (!told.empty() && told != "auto")
        return {};
    return {"fe", "udp"}; // not eth: docs/adr/0012
}

namespace {

// The backend's network on a node, or nullptr.
const Network *find(const Networks &node, const std::string &backend)
{
    for (const Network &network : node.found)
        if (network.backend == backend && network.obstacle.empty())
            return &network;
    return nullptr;
}

std::string obstacle(const Networks &node, const std::string &backend)
{
    for (const Network &network : node.found)
        if (network.backend == backend)
            return network.obstacle;
    return "it was not looked for";
}

// Why not all of the nodes have it in common; empty if they have.
std::string obstacle(const std::vector<Networks> &nodes, const std::string &backend,
                     const std::vector<std::string> &hosts)
{
    const Network *first = nullptr;
    for (std::size_t i = 0; i < nodes.size(); i++) {
        const Network *network = find(nodes[i], backend);
        if (!network)
            return hosts[i] + ": " + obstacle(nodes[i], backend);
        if (!first)
            first = network;
        if (network->name != first->name)
            return hosts[0] + " is in " + first->name + ", " + hosts[i] + " in " + network->name;
    }
    return {};
}

} // namespace

NetworkChoice choose_network(const std::vector<std::string> &backends,
                             const std::vector<Networks> &nodes,
                             const std::vector<std::string> &hosts)
{
    std::string others;
    for (const std::string &backend : backends) {
        const std::string why_not = obstacle(nodes, backend, hosts);
        if (why_not.empty()) {
            const std::string &network = find(nodes.front(), backend)->name;
            return {backend, backend + (network.empty() ? "" : " in " + network) + others};
        }
        others += "; not " + backend + ", as " + why_not;
    }
    return {"", "none" + others};
}

} // namespace unetrun
