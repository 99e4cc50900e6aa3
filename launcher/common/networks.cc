// SPDX-License-Identifier: BSD-3-Clause

#include "common/networks.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <sstream>
#include <sys/socket.h>
#include <unet/unet.h>

#include "common/fd.h"
#include "front/options.h"

namespace unetrun {

namespace {

constexpr char no_network[] = "its interface has no address, which would tell the network";

// Where other hosts reach this one: as the remote shell did, if it tells.
std::string reachable_address()
{
    const char *connection = std::getenv("SSH_CONNECTION"); // client, port, server, port
    std::istringstream words(connection ? connection : "");
    std::string client, port, server;
    words >> client >> port >> server;
    return server.empty() ? "auto" : server;
}

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

std::vector<std::string> backends_to_try(const std::vector<std::string> &environment)
{
    const std::string told = value_of(environment, "SPLITC_BACKEND");
    if (!told.empty() && told != "auto")
        return {};
    return {"fe", "udp"}; // not eth: docs/adr/0012
}

std::vector<std::string> places_of(const std::vector<std::string> &environment)
{
    std::string network = value_of(environment, "UNET_UDP_ADDRESS");
    if (network.empty())
        network = reachable_address();
    std::vector<std::string> places{"UNET_UDP_ADDRESS=" + network};
    for (const std::string name : {"UNET_ETH_INTERFACE", "UNET_FE_INTERFACE"}) {
        const std::string interface = value_of(environment, name);
        places.push_back(name + "=" + (interface.empty() ? network : interface));
    }
    return places;
}

// The way back is the way there; nothing is sent.
std::string connection_from(const std::string &host)
{
    addrinfo datagrams{};
    datagrams.ai_socktype = SOCK_DGRAM;
    addrinfo *found = nullptr;
    const std::string name = host.substr(host.find('@') + 1); // all of it without a user
    if (getaddrinfo(name.c_str(), "9", &datagrams, &found) != 0)
        return {};
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> peer(found, freeaddrinfo);
    const Fd fd(socket(peer->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own;
    socklen_t length = sizeof own;
    if (!fd || connect(fd.get(), peer->ai_addr, peer->ai_addrlen) != 0 ||
        getsockname(fd.get(), reinterpret_cast<sockaddr *>(&own), &length) != 0)
        return {};
    std::array<char, NI_MAXHOST> address{};
    if (getnameinfo(reinterpret_cast<sockaddr *>(&own), length, address.data(), address.size(),
                    nullptr, 0, NI_NUMERICHOST) != 0)
        return {};
    return name + " 9 " + address.data() + " 9";
}

Networks look_for_networks(const std::vector<std::string> &backends)
{
    Networks networks;
    for (const std::string &name : backends) {
        const unet_ops *backend = unet_backend(name.c_str());
        std::array<char, UNET_NETWORK_MAX> network{};
        Network &found = networks.found.emplace_back();
        const int error = backend ? unet_probe(backend, network.data()) : -ENOSYS;
        found.backend = name;
        found.name = network.data();
        if (error)
            found.obstacle = std::strerror(-error);
        else if (found.name.empty() && name != "udp")
            found.obstacle = no_network;
    }
    return networks;
}

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
