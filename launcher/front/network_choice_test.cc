// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "front/network_choice.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

namespace {

const Strings order{"fe", "udp"};

// A node that has what is named "BACKEND" or "BACKEND NETWORK", and of the rest nothing.
Networks node(const Strings &has)
{
    Networks networks;
    for (const std::string &backend : order)
        networks.found.push_back({backend, "", "No such device"});
    for (const std::string &entry : has)
        for (Network &network : networks.found)
            if (entry.substr(0, entry.find(' ')) == network.backend) {
                network.obstacle.clear();
                if (entry.size() > network.backend.size())
                    network.name = entry.substr(network.backend.size() + 1);
            }
    return networks;
}

NetworkChoice choice(const std::vector<Strings> &nodes)
{
    std::vector<Networks> all;
    Strings hosts;
    for (const Strings &has : nodes) {
        all.push_back(node(has));
        hosts.push_back("host" + std::to_string(all.size()));
    }
    return choose_network(order, all, hosts);
}

} // namespace

TEST_CASE("the best network that all hosts have is chosen")
{
    const Strings all{"fe 10.0.0.0/24", "udp"};
    CHECK(choice({all, all, all}).backend == "fe");
    CHECK(choice({all, all, all}).why == "fe in 10.0.0.0/24");
    CHECK(choice({all, {"udp"}, all}).backend == "udp");
    CHECK(choice({all, {"udp"}, all}).why == "udp; not fe, as host2: No such device");
    CHECK(choice({{"udp"}, all}).why == "udp; not fe, as host1: No such device");
}

TEST_CASE("Ethernets of different networks are none in common")
{
    const NetworkChoice chosen = choice({{"fe 10.0.0.0/24", "udp"}, {"fe 10.0.1.0/24", "udp"}});
    CHECK(chosen.backend == "udp");
    CHECK_THAT(chosen.why, Contains("not fe, as host1 is in 10.0.0.0/24, host2 in 10.0.1.0/24"));
}

TEST_CASE("without a network in common the ranks are left to themselves")
{
    CHECK(choice({{"udp"}, {}}).backend.empty());
    CHECK_THAT(choice({{"udp"}, {}}).why,
               Contains("none; not fe") && Contains("not udp, as host2"));
    CHECK(choose_network({"fe"}, {Networks{}}, {"a"}).backend.empty()); // it says nothing
}

TEST_CASE("a user who names backends has nothing chosen")
{
    CHECK(backends_to_try({}) == order);
    CHECK(backends_to_try({"SPLITC_BACKEND=auto"}) == order);
    CHECK(backends_to_try({"SPLITC_BACKEND=shm,udp"}).empty());
}
