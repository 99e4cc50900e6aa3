// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <cstring>
#include <list>
#include <net/if.h>
#include <string>

extern "C" {
#include "udp/local.h"
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

    // The address chosen, or the error.
    std::string choice(const char *text) const
    {
        union udp_sockaddr local;
        char buffer[INET6_ADDRSTRLEN];
        const int error = unet_udp_choose(&interfaces_.front().entry, text, &local);
        if (error)
            return strerrorname_np(-error);
        if (local.any.sa_family == AF_INET)
            return inet_ntop(AF_INET, &local.ip4.sin_addr, buffer, sizeof buffer);
        return inet_ntop(AF_INET6, &local.ip6.sin6_addr, buffer, sizeof buffer);
    }

private:
    struct Interface {
        std::string name;
        union udp_sockaddr address {
        };
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

TEST_CASE("udp: a network chooses the address in it")
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

TEST_CASE("udp: an interface chooses its first IPv4 address, or else one of IPv6")
{
    CHECK(node().choice("ib0") == "10.20.37.7");
    CHECK(node().choice("eth0") == "192.168.4.7");
    CHECK(node().choice("eth1") == "EADDRNOTAVAIL");
    CHECK(Machine().with("eth0", "fe80::7").choice("eth0") == "fe80::7");
}

TEST_CASE("udp: without a wish it is any interface, loopback if there is no other")
{
    CHECK(node().choice("auto") == "192.168.4.7");
    CHECK(Machine().with("eth0", "fe80::7").with("eth0", "2001:db8::7").choice("auto") ==
          "2001:db8::7");
    CHECK(Machine().with("lo", "127.0.0.1", IFF_UP | IFF_LOOPBACK).choice("auto") == "127.0.0.1");
}

TEST_CASE("udp: what names no address, network or interface is refused")
{
    for (const char *text : {"", "eth9", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1",
                             "10.0.0/8", "/8", "2001:db8::/129", "10.0.0.0/8/8"}) {
        INFO("'" << text << "'");
        CHECK(node().choice(text) == "EINVAL");
    }
}

TEST_CASE("udp: a plain address is taken as it is")
{
    union udp_sockaddr local;
    CHECK(unet_udp_local("192.0.2.7", &local) == 0);
    CHECK(local.ip4.sin_addr.s_addr == htonl(0xc0000207));
    CHECK(unet_udp_local("::1", &local) == 0);
    CHECK(local.any.sa_family == AF_INET6);
    CHECK(unet_udp_local("lo", &local) == 0);
    CHECK(local.ip4.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
}
