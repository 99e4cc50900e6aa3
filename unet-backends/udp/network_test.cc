// SPDX-License-Identifier: BSD-3-Clause
//
// What the network says to udp, of others than those who are spoken to.
#include "conformance/process.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

uint16_t port_of(const Endpoint &e)
{
    const struct unet_address address = e.address();
    uint16_t port;

    std::memcpy(&port, address.bytes + 2, sizeof port);
    return port;
}

// In a process and a network of its own, as its root.
void in_own_network(const std::function<bool()> &body)
{
    Board board;
    Child child([&] {
        if (!enter_network())
            return true;
        board.raise(0);
        return body();
    });

    CHECK(child.wait() == 0);
    if (!board.raised(0))
        std::puts("\nnot run: needs root, or user namespaces, and the command ip");
}

uint16_t checksum(const uint8_t *bytes, size_t length)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < length; i += 2)
        sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons(static_cast<uint16_t>(~sum));
}

// As a router that filters says of a datagram from that port to another machine; it is there when
// this returns.
void prohibit(const Endpoint &e)
{
    std::array<uint8_t, sizeof(icmphdr) + sizeof(iphdr) + sizeof(udphdr)> bytes = {};
    icmphdr icmp = {};
    iphdr ip = {};
    udphdr udp = {};
    sockaddr_in to = {};
    const int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);

    ip.version = 4;
    ip.ihl = 5;
    ip.protocol = IPPROTO_UDP;
    ip.tot_len = htons(sizeof ip + sizeof udp);
    ip.saddr = htonl(INADDR_LOOPBACK);
    ip.daddr = htonl(0x0a010203);
    udp.source = port_of(e);
    udp.dest = htons(9);
    udp.len = htons(sizeof udp);
    icmp.type = ICMP_DEST_UNREACH;
    icmp.code = ICMP_PKT_FILTERED;
    std::memcpy(bytes.data() + sizeof icmp, &ip, sizeof ip);
    std::memcpy(bytes.data() + sizeof icmp + sizeof ip, &udp, sizeof udp);
    std::memcpy(bytes.data(), &icmp, sizeof icmp);
    icmp.checksum = checksum(bytes.data(), bytes.size());
    std::memcpy(bytes.data(), &icmp, sizeof icmp);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr *>(&to),
                   sizeof to) == static_cast<ssize_t>(bytes.size()));
    close(fd);
    pollfd errors = {unet_fd(e), 0, 0};
    REQUIRE(poll(&errors, 1, 20000) == 1);
}

// That this network's machines have sent: what the kernel cuts counts as one.
long datagrams_sent()
{
    std::ifstream counts("/proc/self/net/snmp");
    std::string line;
    long in, no_port, errors, out = -1;

    while (out < 0 && std::getline(counts, line))
        std::sscanf(line.c_str(), "Udp: %ld %ld %ld %ld", &in, &no_port, &errors, &out);
    return out;
}

} // namespace

TEST_CASE("what the network says of one peer costs another nothing")
{
    in_own_network([] {
        Pair pair;
        const unet_piece piece = {0, 1000};
        long before = datagrams_sent();

        give_buffers(pair.b, 8, 1000);
        prohibit(pair.a);
        REQUIRE(unet_send(pair.a, pair.ab, 1, &piece, 1, nullptr) == 0);
        REQUIRE(datagrams_sent() - before == 1);
        prohibit(pair.a);
        REQUIRE(send_text(pair.a, pair.ab, "short", 2) == 0);
        REQUIRE(datagrams_sent() - before == 2);

        prohibit(pair.a);
        REQUIRE(unet_send_more(pair.a, pair.ab, 3, &piece, 1, nullptr) == 0);
        REQUIRE(unet_send(pair.a, pair.ab, 4, &piece, 1, nullptr) == 0);
        REQUIRE(datagrams_sent() - before == 3); // as one, to be cut
        for (uint32_t user = 1; user <= 4; user++)
            REQUIRE(await(pair.b, 1000).user == user);
        REQUIRE(unet_channel_state(pair.a, pair.ab) == UNET_OPEN);
        return true;
    });
}

TEST_CASE("a way that takes shorter datagrams than are cut for it leaves the others as they are")
{
    in_own_network([] {
        Endpoint a, near;
        REQUIRE(std::system("ip route add local 127.0.0.2 dev lo table local mtu lock 1300") == 0);
        setenv("UNET_UDP_ADDRESS", "127.0.0.2", 1);
        Endpoint far;
        const unet_piece piece = {0, 2000};
        uint16_t to_near, to_far, back;

        join(a, near, 1, to_near, back);
        join(a, far, 2, to_far, back);
        give_buffers(near, 4, 2000);
        give_buffers(far, 4, 2000);
        for (const uint16_t channel : {to_far, to_near}) {
            const long before = datagrams_sent();

            REQUIRE(unet_send_more(a, channel, 1, &piece, 1, nullptr) == 0);
            REQUIRE(unet_send(a, channel, 2, &piece, 1, nullptr) == 0);
            REQUIRE(datagrams_sent() - before == (channel == to_far ? 2 : 1));
            REQUIRE(await(channel == to_far ? far : near, 2000).user == 1);
            REQUIRE(await(channel == to_far ? far : near, 2000).user == 2);
        }
        return true;
    });
}
