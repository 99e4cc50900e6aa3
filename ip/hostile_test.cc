// SPDX-License-Identifier: BSD-3-Clause
//
// What a neighbour sends that is no packet of its own is counted and dropped; and what ip_open and
// ip_route_add refuse.
#include "packets.h"

#include <algorithm>
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <vector>

namespace {

void await_reply(Node &node)
{
    const struct unet_desc *desc;

    while (!(desc = unet_rx_peek(node.ep)))
        if (unet_progress(node.ep) == 0)
            sched_yield();
    need(desc->kind == UNET_PIECES && desc->length == 64, "no reply");
    const auto *ip =
        reinterpret_cast<const struct iphdr *>(node.ep->segment + desc->piece[0].offset);
    need(ip->daddr == number("10.0.0.2"), "the reply's address");
    unet_rx_release(node.ep);
}

} // namespace

TEST_CASE("Packets that are none, or not the neighbour's own, are counted and dropped")
{
    run_both(
        {},
        [](Node &node) {
            // All lies behind the neighbour but one address, which lies behind another.
            need(ip_route_add(node.stack, {number("10.0.0.3")}, 32,
                              static_cast<uint16_t>(node.channel + 1)) == 0,
                 "the route of one address");
            need(ip_route_add(node.stack, {}, 0, node.channel) == 0, "the route of all");
            while (!node.shared->done)
                ip_wait(node.stack, 1);
            const struct ip_stats *stats = ip_stats(node.stack);
            need(stats->malformed == 6, "malformed: " + std::to_string(stats->malformed));
            need(stats->spoofed == 4, "spoofed: " + std::to_string(stats->spoofed));
            need(stats->misdirected == 4, "misdirected: " + std::to_string(stats->misdirected));
            need(stats->received == 1 && stats->sent == 1, "received and sent");
        },
        [](Node &node) {
            need(unet_free_put(node.ep, 65536, 4096) == 0, "unet_free_put");
            const Packet good = ping();
            send_raw(node, Packet(good.begin(), good.begin() + 1));
            send_raw(node, Packet(good.begin(), good.begin() + 19));
            send_raw(node, Packet(good.begin(), good.begin() + 63));
            send_raw(node, ping([](struct iphdr &ip) { ip.version = 6; }));
            send_raw(node, ping([](struct iphdr &ip) { ip.ihl = 15; }, 50));
            send_raw(node, ping([](struct iphdr &ip) { ip.tot_len = 0xffff; }));
            for (const char *source : {"10.0.0.1", "10.0.0.3", "127.0.0.1", "0.0.0.0"})
                send_raw(node, ping([=](struct iphdr &ip) { ip.saddr = number(source); }));
            for (const char *target : {"10.0.0.3", "127.0.0.1", "255.255.255.255", "224.0.0.1"})
                send_raw(node, ping([=](struct iphdr &ip) { ip.daddr = number(target); }));
            send_raw(node, good);
            await_reply(node);
            node.shared->done = 1;
        },
        40, false);
}

namespace {

// The header of the next TCP segment that comes.
struct tcphdr next_segment(Node &node)
{
    const Packet packet = next_packet(node);
    struct tcphdr tcp;

    need(packet.size() >= 40, "no segment");
    std::memcpy(&tcp, packet.data() + 20, sizeof tcp);
    return tcp;
}

} // namespace

TEST_CASE("A segment that grows beyond the window does not end the process")
{
    run_both(
        {},
        [](Node &node) {
            ip_socket *listener = nullptr, *s = nullptr;
            need(ip_socket_open(node.stack, SOCK_STREAM, &listener) == 0, "ip_socket_open");
            need(ip_bind(listener, htons(80)) == 0 && ip_listen(listener, 4) == 0, "ip_listen");
            node.shared->port = htons(80);
            need(ip_accept(listener, &s, nullptr, 10000) == 0, "ip_accept");
            while (!node.shared->done)
                ip_wait(node.stack, 1);
            need(ip_stats(node.stack)->beyond == 1, "it was not seen");
        },
        [](Node &node) {
            const in_port_t port = htons(80);
            uint32_t at = 1001;

            while (!node.shared->port)
                sched_yield();
            for (uint32_t i = 0; i < 128; i++)
                need(unet_free_put(node.ep, 65536 + i * 2048, 2048) == 0, "unet_free_put");
            send_raw(node, segment(port, 1000, 0, TH_SYN, 0));
            struct tcphdr answer = next_segment(node);
            need(answer.th_flags == (TH_SYN | TH_ACK), "no SYN ACK");
            const uint32_t ack = ntohl(answer.th_seq) + 1, edge = at + 65535;
            send_raw(node, segment(port, at, ack, TH_ACK, 0));
            send_raw(node, segment(port, edge - 101, ack, TH_ACK, 100));
            send_raw(node, segment(port, edge - 101, ack, TH_ACK, 1000));
            while (at < edge - 101) {
                const uint32_t length = std::min(1400u, edge - 101 - at);
                send_raw(node, segment(port, at, ack, TH_ACK, length));
                at += length;
            }
            do
                answer = next_segment(node);
            while (ntohl(answer.th_ack) != edge - 1);
            node.shared->done = 1;
        },
        20, false);
}

TEST_CASE("Random packets from a neighbour harm nobody")
{
    run_both(
        {},
        [](Node &node) {
            ip_socket *listener = nullptr;
            need(ip_socket_open(node.stack, SOCK_STREAM, &listener) == 0, "ip_socket");
            need(ip_bind(listener, htons(80)) == 0 && ip_listen(listener, 4) == 0, "ip_listen");
            while (!node.shared->done)
                ip_wait(node.stack, 1);
        },
        [](Node &node) {
            Random random{99};

            for (int i = 0; i < 20000; i++) {
                static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP,
                                                    IPPROTO_IGMP};
                Packet packet = ping(
                    [&](struct iphdr &ip) {
                        ip.protocol = protocols[random.below(4)];
                        if (random.below(4) == 0)
                            ip.frag_off = static_cast<uint16_t>(random.below(65536));
                    },
                    49 + random.below(200));
                for (size_t at = 20; at < packet.size(); at++)
                    packet[at] = static_cast<uint8_t>(random.below(256));
                packet[22] = 0;
                packet[23] = 80;
                send_raw(node, packet);
                while (unet_rx_peek(node.ep))
                    unet_rx_release(node.ep);
            }
            for (int i = 0; i < 4; i++)
                need(unet_free_put(node.ep, 65536, 4096) == 0, "unet_free_put");
            send_raw(node, ping());
            await_reply(node);
            node.shared->done = 1;
        },
        40, false);
}

TEST_CASE("Stacks and routes are refused where they make no sense")
{
    struct unet_endpoint *ep = nullptr;
    struct unet_config config = {};
    struct ip_stack *stack = nullptr, *second = nullptr;
    struct ip_config ip = {};

    config.polled = true;
    REQUIRE(unet_open(unet_backend("shm"), &config, &ep) == 0);
    inet_pton(AF_INET, "10.0.0.1", &ip.address);
    CHECK(ip_open(ep, &ip, &stack) == -EOPNOTSUPP);
    unet_close(ep);
    config = {};
    config.segment_bytes = 8192;
    REQUIRE(unet_open(unet_backend("shm"), &config, &ep) == 0);
    CHECK(ip_open(ep, &ip, &stack) == -ENOBUFS);
    unet_close(ep);
    config = {};
    ip_endpoint_config(&config);
    REQUIRE(unet_open(unet_backend("shm"), &config, &ep) == 0);
    for (const char *address : {"0.0.0.0", "224.0.0.1", "255.255.255.255"}) {
        inet_pton(AF_INET, address, &ip.address);
        CHECK(ip_open(ep, &ip, &stack) == -EINVAL);
    }
    inet_pton(AF_INET, "10.0.0.1", &ip.address);
    for (uint32_t mtu : {575u, 65536u}) {
        ip.mtu = mtu;
        CHECK(ip_open(ep, &ip, &stack) == -EINVAL);
    }
    ip.mtu = 0;
    ip.timer_ms = 251;
    CHECK(ip_open(ep, &ip, &stack) == -EINVAL);
    ip.timer_ms = 0;
    REQUIRE(ip_open(ep, &ip, &stack) == 0);
    CHECK(ip_open(ep, &ip, &second) == -EBUSY);
    CHECK(ip_route_add(stack, ip.address, 33, 1) == -EINVAL);
    CHECK(ip_route_add(stack, ip.address, 32, 0) == -EINVAL);
    CHECK(ip_route_add(stack, ip.address, 0, 1) == 0);
    ip_close(stack);
    unet_close(ep);
}
