// SPDX-License-Identifier: BSD-3-Clause

#include "common/networks.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <sstream>
#include <sys/socket.h>
#include <unet/unet.h>

#include "common/environment.h"

namespace unetrun {

namespace {

constexpr char no_network[] = "its interface has no address, which would tell the network";

// The address at which other hosts reach this one: that to which the remote shell came, or "auto".
std::string reachable_address()
{
    const char *connection = std::getenv("SSH_CONNECTION"); // client, port, server, port
    std::istringstream words(connection ? connection : "");
    std::string client, port, server;
    words >> client >> port >> server;
    return server.empty() ? "auto" : server;
}

bool is_up(const ifaddrs &interface)
{
    return (interface.ifa_flags & IFF_UP) != 0 && interface.ifa_addr &&
           (interface.ifa_addr->sa_family == AF_INET || interface.ifa_addr->sa_family == AF_INET6);
}

} // namespace

bool any_interface_is_up()
{
    ifaddrs *all = nullptr;
    if (getifaddrs(&all) < 0)
        return true; // whoever needs one will say so
    const ifaddrs *one = all;
    while (one && !is_up(*one))
        one = one->ifa_next;
    freeifaddrs(all);
    return one != nullptr;
}

std::string interface_of(const std::vector<std::string> &environment)
{
    const std::string told = value_of(environment, "UNET_INTERFACE");
    return told.empty() ? reachable_address() : told;
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

} // namespace unetrun
