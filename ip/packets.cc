// SPDX-License-Identifier: BSD-3-Clause
#include "packets.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <sched.h>

static constexpr uint32_t kBuffer = 2048;

uint16_t checksum(const uint8_t *bytes, size_t length)
{
    uint32_t sum = 0;

    for (size_t i = 0; i + 1 < length; i += 2)
        sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    sum = (sum >> 16) + (sum & 0xffff);
    return htons(static_cast<uint16_t>(~(sum + (sum >> 16))));
}

Packet ping(const std::function<void(struct iphdr &)> &change, size_t length)
{
    Packet packet(length);
    struct iphdr ip = {};
    struct icmphdr icmp = {};

    ip.version = 4;
    ip.ihl = 5;
    ip.tot_len = htons(static_cast<uint16_t>(length));
    ip.ttl = 64;
    ip.protocol = IPPROTO_ICMP;
    inet_pton(AF_INET, "10.0.0.2", &ip.saddr);
    inet_pton(AF_INET, "10.0.0.1", &ip.daddr);
    if (change)
        change(ip);
    ip.check = 0;
    ip.check = checksum(reinterpret_cast<uint8_t *>(&ip), sizeof ip);
    std::memcpy(packet.data(), &ip, sizeof ip);
    icmp.type = ICMP_ECHO;
    std::memcpy(packet.data() + sizeof ip, &icmp, sizeof icmp);
    icmp.checksum = checksum(packet.data() + sizeof ip, length - sizeof ip);
    std::memcpy(packet.data() + sizeof ip, &icmp, sizeof icmp);
    return packet;
}

in_addr_t number(const char *text)
{
    in_addr_t address;

    inet_pton(AF_INET, text, &address);
    return address;
}

void send_raw(Node &node, const Packet &packet)
{
    struct unet_piece piece = {0, static_cast<uint32_t>(packet.size())};
    uint32_t ticket;

    std::memcpy(node.ep->segment, packet.data(), packet.size());
    need(unet_send(node.ep, node.channel, 0, &piece, 1, &ticket) == 0, "unet_send");
    while (!unet_sent(node.ep, ticket))
        unet_progress(node.ep);
}

uint16_t segment_checksum(const Packet &packet)
{
    const size_t length = packet.size() - 20;
    Packet sum(packet.begin() + 12, packet.end()); // with the pseudo header in front
    const uint8_t rest[4] = {0, IPPROTO_TCP, static_cast<uint8_t>(length >> 8),
                             static_cast<uint8_t>(length)};

    sum.insert(sum.begin() + 8, rest, rest + 4);
    sum.resize((sum.size() + 1) / 2 * 2);
    return checksum(sum.data(), sum.size());
}

Packet segment(in_port_t port, uint32_t sequence, uint32_t acknowledged, uint8_t flags,
               size_t length, uint16_t mss, uint8_t scale)
{
    const size_t options = mss ? scale ? 8 : 4 : 0;
    Packet packet =
        ping([](struct iphdr &ip) { ip.protocol = IPPROTO_TCP; }, 40 + options + length);
    struct tcphdr tcp = {};

    tcp.th_sport = htons(1234);
    tcp.th_dport = port;
    tcp.th_seq = htonl(sequence);
    tcp.th_ack = htonl(acknowledged);
    tcp.th_off = 5 + options / 4;
    tcp.th_flags = flags;
    tcp.th_win = htons(60000);
    std::fill(packet.begin() + 20, packet.end(), uint8_t{0});
    std::memcpy(packet.data() + 20, &tcp, sizeof tcp);
    if (mss) {
        const uint8_t option[4] = {TCPOPT_MAXSEG, TCPOLEN_MAXSEG, static_cast<uint8_t>(mss >> 8),
                                   static_cast<uint8_t>(mss)};
        std::copy(option, option + 4, packet.begin() + 40);
    }
    if (mss && scale) {
        const uint8_t option[4] = {TCPOPT_WINDOW, TCPOLEN_WINDOW, scale, TCPOPT_NOP};
        std::copy(option, option + 4, packet.begin() + 44);
    }
    const uint16_t check = segment_checksum(packet);
    std::memcpy(packet.data() + 20 + 16, &check, 2);
    return packet;
}

Packet next_packet(Node &node)
{
    const struct unet_desc *desc;
    Packet packet;

    while (!(desc = unet_rx_peek(node.ep)))
        if (unet_progress(node.ep) == 0)
            sched_yield();
    if (desc->kind == UNET_INLINE)
        packet.assign(desc->data, desc->data + desc->length);
    for (unsigned i = 0; desc->kind == UNET_PIECES && i < desc->pieces; i++) {
        const struct unet_piece piece = desc->piece[i];
        const uint8_t *bytes = node.ep->segment + piece.offset;

        packet.insert(packet.end(), bytes, bytes + piece.length);
        need(unet_free_put(node.ep, piece.offset, kBuffer) == 0, "unet_free_put");
    }
    unet_rx_release(node.ep);
    return packet;
}
