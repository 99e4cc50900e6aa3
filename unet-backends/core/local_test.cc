// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <list>
#include <net/if.h>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "core/core.h"
#include "core/local.h"
}

namespace {

// A machine's interfaces, as getifaddrs tells them.
class Machine {
public:
    Machine &with(const char *name, const char *address, unsigned flags = IFF_UP | IFF_RUNNING)
    {
        Interface &one = interfaces_.emplace_back();
        one.name = name;
        if (address && inet_pton(AF_INET, address, &one.address.ip4.sin_addr) == 1)
            one.address.any.sa_family = AF_INET;
        else if (address && inet_pton(AF_INET6, address, &one.address.ip6.sin6_addr) == 1)
            one.address.any.sa_family = AF_INET6;
        one.entry.ifa_name = one.name.data();
        one.entry.ifa_flags = flags;
        one.entry.ifa_addr = address ? &one.address.any : nullptr;
        if (interfaces_.size() > 1)
            std::next(interfaces_.rbegin())->entry.ifa_next = &one.entry;
        return *this;
    }

    // Its last interface's network is so many bits.
    Machine &in(const char *mask)
    {
        Interface &one = interfaces_.back();
        one.mask.any.sa_family = one.address.any.sa_family;
        REQUIRE((inet_pton(AF_INET, mask, &one.mask.ip4.sin_addr) == 1 ||
                 inet_pton(AF_INET6, mask, &one.mask.ip6.sin6_addr) == 1));
        one.entry.ifa_netmask = &one.mask.any;
        return *this;
    }

    std::string network(const char *interface) const
    {
        char text[UNET_NETWORK_MAX];
        return unet_local_network(&interfaces_.front().entry, interface, text) ? text : "none";
    }

    std::string owner(const char *text) const
    {
        union unet_sockaddr address;
        REQUIRE(unet_local(text, &address) == 0);
        const struct ifaddrs *one = unet_local_owner(&interfaces_.front().entry, &address);
        return one ? one->ifa_name : "nobody";
    }

    // The address chosen, or the error.
    std::string choice(const char *text) const
    {
        union unet_sockaddr local;
        char buffer[INET6_ADDRSTRLEN];
        const int error = unet_local_choose(&interfaces_.front().entry, text, &local);
        if (error)
            return strerrorname_np(-error);
        if (local.any.sa_family == AF_INET)
            return inet_ntop(AF_INET, &local.ip4.sin_addr, buffer, sizeof buffer);
        return inet_ntop(AF_INET6, &local.ip6.sin6_addr, buffer, sizeof buffer);
    }

private:
    struct Interface {
        std::string name;
        union unet_sockaddr address {
        }, mask{};
        struct ifaddrs entry {};
    };
    std::list<Interface> interfaces_;
};

Machine node()
{
    Machine machine;
    machine.with("lo", nullptr, IFF_UP | IFF_LOOPBACK)
        .with("lo", "127.0.0.1", IFF_UP | IFF_LOOPBACK)
        .with("eth1", "172.16.0.9", 0)
        .with("eth0", "fe80::7")
        .with("eth0", "2001:db8::7")
        .with("eth0", "192.168.4.7")
        .with("ib0", "10.20.37.7");
    return machine;
}

} // namespace

TEST_CASE("local: a network chooses the address in it")
{
    CHECK(node().choice("10.0.0.0/8") == "10.20.37.7");
    CHECK(node().choice("10.20.32.0/21") == "10.20.37.7");
    CHECK(node().choice("10.20.40.0/21") == "EADDRNOTAVAIL");
    CHECK(node().choice("192.168.4.7/32") == "192.168.4.7");
    CHECK(node().choice("2001:db8::/32") == "2001:db8::7");
    CHECK(node().choice("127.0.0.0/8") == "127.0.0.1");
    CHECK(node().choice("0.0.0.0/0") == "127.0.0.1");
    CHECK(node().choice("172.16.0.0/12") == "EADDRNOTAVAIL"); // it is down
}

TEST_CASE("local: an interface chooses its first IPv4 address, or else one of IPv6")
{
    CHECK(node().choice("ib0") == "10.20.37.7");
    CHECK(node().choice("eth0") == "192.168.4.7");
    CHECK(node().choice("eth1") == "EADDRNOTAVAIL");
    CHECK(Machine().with("eth0", "fe80::7").choice("eth0") == "fe80::7");
}

TEST_CASE("local: without a wish it is any interface, loopback if there is no other")
{
    CHECK(node().choice("auto") == "192.168.4.7");
    CHECK(Machine().with("eth0", "fe80::7").with("eth0", "2001:db8::7").choice("auto") ==
          "2001:db8::7");
    CHECK(Machine().with("lo", "127.0.0.1", IFF_UP | IFF_LOOPBACK).choice("auto") == "127.0.0.1");
}

TEST_CASE("local: what names no address, network or interface is refused")
{
    for (const char *text :
         {"", "eth9", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1",
          "10.0.0.0/4294967304", "10.0.0/8", "/8", "2001:db8::/129", "10.0.0.0/8/8"}) {
        INFO("'" << text << "'");
        CHECK(node().choice(text) == "EINVAL");
    }
}

TEST_CASE("local: an interface is in the network of its first address, IPv4 before IPv6")
{
    Machine machine;
    machine.with("lo", "127.0.0.1", IFF_UP | IFF_LOOPBACK).in("255.0.0.0");
    machine.with("eth0", "fe80::7").in("ffff:ffff:ffff:ffff::");
    machine.with("eth1", "2001:db8:0:5::7").in("ffff:ffff:ffff:ffff::");
    machine.with("eth2", "2001:db8:0:6::7").in("ffff:ffff:ffff:ffff::");
    machine.with("eth2", "10.20.37.7").in("255.255.248.0");
    machine.with("eth2", "10.99.0.7").in("255.255.255.0");
    CHECK(machine.network("eth2") == "10.20.32.0/21");
    CHECK(machine.network("eth1") == "2001:db8:0:5::/64");
    CHECK(machine.network("eth0") == "none"); // link-local: everybody is in one of that name
    CHECK(machine.network("lo") == "none");   // the same
    CHECK(machine.network("eth9") == "none");
}

TEST_CASE("local: an address belongs to an interface")
{
    CHECK(node().owner("10.20.37.7") == "ib0");
    CHECK(node().owner("2001:db8::7") == "eth0");
    CHECK(node().owner("10.20.37.8") == "nobody");
}

TEST_CASE("local: an interface is named by itself, its address or its network")
{
    char name[IF_NAMESIZE];
    REQUIRE(unet_local_interface("eth7", name) == 0); // whether it exists is not asked
    CHECK(name == std::string("eth7"));
    for (const char *text : {"127.0.0.1", "127.0.0.0/8"}) {
        INFO(text);
        REQUIRE(unet_local_interface(text, name) == 0);
        CHECK(name == std::string("lo"));
    }
    for (const char *text :
         {"a-name-that-is-too-long", "203.0.113.1", "203.0.113.0/24", "10.0.0.0/99"}) {
        INFO(text);
        CHECK(unet_local_interface(text, name) == -ENODEV);
    }
}

TEST_CASE("local: a probe tells what opening an endpoint would")
{
    char network[UNET_NETWORK_MAX] = "?";
    CHECK(unet_probe(unet_backend("udp"), network) == 0);
    CHECK(network == std::string());
    REQUIRE(setenv("UNET_INTERFACE", "nosuch0", 1) == 0);
    CHECK(unet_probe(unet_backend("fe"), network) < 0);
}

TEST_CASE("local: backends know what to do about errors of their own, and of no others")
{
    for (const char *name : {"udp", "eth", "fe"})
        CHECK(std::string(unet_remedy(unet_backend(name),
                                      name == std::string("udp") ? -EADDRNOTAVAIL : -ENODEV))
                  .find("UNET_INTERFACE") != std::string::npos);
    CHECK(unet_remedy(unet_backend("udp"), -ENODEV) == std::string());
    REQUIRE(setenv("UNET_ETH_SUPER", "7", 1) == 0);
    struct unet_endpoint *endpoint;
    CHECK(unet_open(unet_backend("eth"), nullptr, &endpoint) == -EDOM);
    CHECK(std::string(unet_remedy(unet_backend("eth"), -EDOM))
              .find("UNET_ETH_SUPER has to be 1, or 0") == 0);
    REQUIRE(unsetenv("UNET_ETH_SUPER") == 0);
    CHECK(unet_remedy(unet_backend("atm"), -ENETDOWN) ==
          std::string(
              "is the switch unetatm, or the ATM interface, that UNET_ATM_CARRIER names, gone?"));
    CHECK(unet_remedy(unet_backend("ni"), -ENETDOWN) == std::string("is the service unetni gone?"));
    CHECK(unet_remedy(unet_backend("loopback"), -EINVAL) == std::string());
}

TEST_CASE("local: a plain address is taken as it is")
{
    union unet_sockaddr local;
    CHECK(unet_local("192.0.2.7", &local) == 0);
    CHECK(local.ip4.sin_addr.s_addr == htonl(0xc0000207));
    CHECK(unet_local("::1", &local) == 0);
    CHECK(local.any.sa_family == AF_INET6);
    CHECK(unet_local("lo", &local) == 0);
    CHECK(local.ip4.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
}

TEST_CASE("local: any interface is one that has an address")
{
    union unet_sockaddr local;
    REQUIRE(unet_local("auto", &local) == 0);
    if (local.any.sa_family == AF_INET)
        CHECK(local.ip4.sin_addr.s_addr != 0);
    else
        CHECK(local.any.sa_family == AF_INET6);
}

TEST_CASE("local: where no route leads out, loopback is better than nothing")
{
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) { // in a network of its own, which has nothing
        union unet_sockaddr local;
        // Root needs no namespace of users, which no process with threads may enter, as the thread
        // sanitizer's are.
        if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
            _exit(77);
        _exit(unet_local("auto", &local) == 0 && local.any.sa_family == AF_INET &&
                      local.ip4.sin_addr.s_addr == htonl(INADDR_LOOPBACK)
                  ? 0
                  : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        WARN("not run: this user may make no network namespaces");
    else
        CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("local: the default route has neither destination nor mask, is up, and refuses nothing")
{
    const auto interface = [](const char *destination, const char *flags, const char *mask) {
        char name[IF_NAMESIZE] = "";
        const std::string line = std::string("eth7\t") + destination + "\t0100000A\t" + flags +
                                 "\t0\t0\t100\t" + mask + "\t0\t0\t0\n";
        return unet_is_default_route(line.c_str(), name) ? std::string(name) : "none";
    };
    CHECK(interface("00000000", "0003", "00000000") == "eth7");
    CHECK(interface("0000000A", "0003", "00000000") == "none");
    CHECK(interface("00000000", "0003", "000000FF") == "none"); // 0.0.0.0/8
    CHECK(interface("0000000A", "0001", "000000FF") == "none");
    CHECK(interface("00000000", "0002", "00000000") == "none"); // is down
    CHECK(interface("00000000", "0201", "00000000") == "none"); // refuses
    char name[IF_NAMESIZE];
    CHECK_FALSE(unet_is_default_route("Iface\tDestination\tGateway\tFlags\n", name));
}

// ---- keys ---------------------------------------------------------------------------------

TEST_CASE("numbers are mixed as splitmix64 does")
{
    // The first three of the sequence that begins with 0.
    CHECK(unet_mix(0x9e3779b97f4a7c15) == 0xe220a8397b1dcdaf);
    CHECK(unet_mix(2 * 0x9e3779b97f4a7c15) == 0x6e789e6aa1b965f4);
    CHECK(unet_mix(3 * 0x9e3779b97f4a7c15) == 0x06c45d188009454f);
}

TEST_CASE("the key of a direction is of its tag and of both ends, and of no other direction")
{
    const uint64_t key = unet_direction_key(1, 2, 3);

    CHECK(unet_direction_key(1, 2, 3) == key);
    CHECK(unet_direction_key(1, 3, 2) != key);
    CHECK(unet_direction_key(2, 2, 3) != key);
    CHECK(unet_direction_key(1, 3, 3) != key);
    CHECK(unet_direction_key(1, 2, 2) != key);
}

TEST_CASE("a ring counts as almost full from three quarters on")
{
    CHECK(unet_ring_brim(3) == 3);
    CHECK(unet_ring_brim(127) == 96);
}
