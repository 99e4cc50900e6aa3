// SPDX-License-Identifier: BSD-3-Clause
//
// What goes onto the link: segments cut into packets, and their checksums.
#include "packets.h"

#include <algorithm>
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <dlfcn.h>
#include <lwip/inet_chksum.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <netinet/tcp.h>
#include <sched.h>

extern "C" {
uint16_t lwip_standard_chksum(const void *bytes, int length);
uint16_t lwip_chksum_copy(void *to, const void *bytes, uint16_t length);
}

namespace {

constexpr size_t kBytes = 200000;
constexpr uint32_t kFirst = 1000;

// Headers and checksums of a packet are right.  Returns its TCP header.
struct tcphdr check_packet(const Packet &packet, size_t most)
{
    struct tcphdr tcp;

    need(packet.size() >= 40 && packet.size() <= most, "a packet too long");
    need((packet[2] << 8 | packet[3]) == static_cast<int>(packet.size()), "the packet's length");
    need(checksum(packet.data(), 20) == 0, "the header's checksum");
    need(segment_checksum(packet) == 0, "the segment's checksum");
    std::memcpy(&tcp, packet.data() + 20, sizeof tcp);
    return tcp;
}

// Take the stream from a stack whose link has that MTU, as a peer that takes segments of `mss`
// bytes.
void check_packets(uint32_t mtu, uint16_t mss)
{
    Way way;
    way.mtu = mtu;
    run_both(
        way,
        [](Node &node) {
            ip_socket *listener = nullptr, *s = nullptr;
            std::vector<uint8_t> bytes(kBytes);
            need(ip_socket_open(node.stack, SOCK_STREAM, &listener) == 0, "ip_socket_open");
            need(ip_bind(listener, htons(80)) == 0 && ip_listen(listener, 4) == 0, "ip_listen");
            node.shared->port = htons(80);
            need(ip_accept(listener, &s, nullptr, 10000) == 0, "ip_accept");
            fill(bytes.data(), bytes.size(), 0);
            need(ip_send(s, bytes.data(), bytes.size(), 10000) == kBytes, "ip_send");
            need(ip_flush(node.stack, 10000) == 0, "ip_flush");
        },
        [=](Node &node) {
            const size_t most = std::min<size_t>(mtu, mss + 40u);
            const in_port_t port = htons(80);
            size_t have = 0, longest = 0;

            while (!node.shared->port)
                sched_yield();
            for (uint32_t i = 0; i < 128; i++)
                need(unet_free_put(node.ep, 65536 + i * 2048, 2048) == 0, "unet_free_put");
            send_raw(node, segment(port, kFirst, 0, TH_SYN, 0, mss));
            const Packet answer = next_packet(node);
            const struct tcphdr synack = check_packet(answer, mtu);
            need(synack.th_flags == (TH_SYN | TH_ACK), "no SYN ACK");
            need(answer[40] == TCPOPT_MAXSEG &&
                     (answer[42] << 8 | answer[43]) == static_cast<int>(mtu - 40),
                 "what the stack says of segments");
            const uint32_t first = ntohl(synack.th_seq) + 1;
            send_raw(node, segment(port, kFirst + 1, first, TH_ACK, 0));
            while (have < kBytes) {
                const Packet packet = next_packet(node);
                const struct tcphdr tcp = check_packet(packet, most);
                const uint32_t at = ntohl(tcp.th_seq) - first;

                longest = std::max(longest, packet.size());
                if (packet.size() > 40 && at == have) { // or it has been sent again
                    need(matches(packet.data() + 40, packet.size() - 40, at), "other bytes");
                    have += packet.size() - 40;
                }
                send_raw(node,
                         segment(port, kFirst + 1, first + static_cast<uint32_t>(have), TH_ACK, 0));
            }
            need(longest == most, "no full packet");
        },
        20, false);
}

// The value of an option of a segment's, or -1.
int option(const Packet &packet, uint8_t kind)
{
    const size_t end = 20 + static_cast<size_t>(packet[20 + 12] >> 4) * 4;

    for (size_t at = 40; at + 1 < end && packet[at] != TCPOPT_EOL;
         at += packet[at] == TCPOPT_NOP || packet[at + 1] == 0 ? 1 : packet[at + 1])
        if (packet[at] == kind)
            return packet[at + 2];
    return -1;
}

// A stack of whose stream nothing has been read tells a peer, whose own windows are scaled by so
// many bits, of a window of at least so many bytes.
void check_window(uint8_t scale, int told, uint32_t least)
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
        },
        [=](Node &node) {
            const in_port_t port = htons(80);

            while (!node.shared->port)
                sched_yield();
            for (uint32_t i = 0; i < 128; i++)
                need(unet_free_put(node.ep, 65536 + i * 2048, 2048) == 0, "unet_free_put");
            send_raw(node, segment(port, kFirst, 0, TH_SYN, 0, 1460, scale));
            const Packet answer = next_packet(node);
            const uint32_t first = ntohl(check_packet(answer, 1500).th_seq) + 1;
            send_raw(node, segment(port, kFirst + 1, first, TH_ACK, 0));
            send_raw(node, segment(port, kFirst + 1, first, TH_ACK, 1));
            need(option(answer, TCPOPT_WINDOW) == told, "the scale of windows");
            // The first acknowledgement may be of before: then another one tells the window.
            for (uint32_t window = 0; window < least;) {
                const struct tcphdr tcp = check_packet(next_packet(node), 1500);
                if (ntohl(tcp.th_ack) == kFirst + 2)
                    window = static_cast<uint32_t>(ntohs(tcp.th_win)) << std::max(told, 0);
            }
            node.shared->done = 1;
        },
        20, false);
}

// Another interface of the same lwIP, which sends what streams copied as it is.
err_t other_output(struct netif *, struct pbuf *, const ip4_addr_t *)
{
    return ERR_OK;
}

err_t other_init(struct netif *netif)
{
    netif->output = other_output;
    return ERR_OK;
}

uint16_t sum_of_copy()
{
    const uint8_t bytes[] = {1, 2, 3, 4};
    uint8_t copy[sizeof bytes] = {};
    const uint16_t sum = lwip_chksum_copy(copy, bytes, sizeof copy);

    need(std::memcmp(copy, bytes, sizeof copy) == 0, "other bytes");
    return sum;
}

} // namespace

TEST_CASE("Segments are cut into packets of the link and of the peer")
{
    check_packets(1500, 1460);
    check_packets(1000, 1460);
    check_packets(1500, 700);
}

TEST_CASE("Windows are larger than lwIP's, where the peer scales them")
{
    check_window(4, 2, 200000);
    check_window(0, -1, 60000);
}

TEST_CASE("Sums are those of RFC 1071, of any number of bytes anywhere")
{
    std::vector<uint8_t> bytes(4200), copy(4200);
    Random random{5};

    for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(random.below(256));
    for (int i = 0; i < 4000; i++) {
        const size_t from = random.below(64), to = random.below(64);
        const size_t length = random.below(random.below(2) ? 100 : 4000);
        uint64_t sum = 0;

        for (size_t at = 0; at < length; at++)
            sum += at % 2 ? bytes[from + at] << 8 : bytes[from + at];
        while (sum >> 16)
            sum = (sum >> 16) + (sum & 0xffff);
        INFO(length << " bytes from " << from);
        REQUIRE(lwip_standard_chksum(&bytes[from], static_cast<int>(length)) == sum);
        REQUIRE(lwip_chksum_copy(&copy[to], &bytes[from], static_cast<uint16_t>(length)) == sum);
        REQUIRE(std::memcmp(&copy[to], &bytes[from], length) == 0);
    }
    std::fill(bytes.begin(), bytes.end(), uint8_t{0xff});
    REQUIRE(lwip_standard_chksum(bytes.data(), 4200) == 0xffff);
}

TEST_CASE("Sums of copies are left out where nothing but the link would use them")
{
    run_both(
        {},
        [](Node &) {
            static struct netif other;
            const ip4_addr_t address = {htonl(0x0a010001)}, mask = {htonl(0xffffff00)};

            need(sum_of_copy() == 0, "a sum that nobody uses");
            need(netif_add(&other, &address, &mask, IP4_ADDR_ANY4, nullptr, other_init, ip_input),
                 "netif_add");
            need(sum_of_copy() == 0x0604, "another interface gets no sum");
            netif_remove(&other);
            need(sum_of_copy() == 0, "a sum that nobody uses any more");
        },
        [](Node &) {});
}

TEST_CASE("lwIP calls the sums of this library")
{
    Dl_info sum = {}, lwip = {};

    REQUIRE(dladdr(dlsym(RTLD_DEFAULT, "lwip_standard_chksum"), &sum) != 0);
    REQUIRE(dladdr(dlsym(RTLD_DEFAULT, "inet_chksum_pseudo"), &lwip) != 0);
    CHECK(std::string(sum.dli_fname) != lwip.dli_fname);
}
