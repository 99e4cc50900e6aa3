// SPDX-License-Identifier: BSD-3-Clause
#include "packets.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

std::optional<Datagram> datagram_in(const uint8_t *packet, size_t length)
{
    iphdr ip;
    udphdr udp;

    if (length < sizeof ip)
        return {};
    std::memcpy(&ip, packet, sizeof ip);
    const size_t header = ip.ihl * 4u;
    if (ip.version != 4 || ip.protocol != IPPROTO_UDP || (ntohs(ip.frag_off) & ~IP_DF) != 0 ||
        length < header + sizeof udp)
        return {};
    std::memcpy(&udp, packet + header, sizeof udp);
    const size_t end = header + ntohs(udp.len);
    if (end < header + sizeof udp || end > length)
        return {};
    return Datagram{header, header + sizeof udp, end, ntohs(udp.source), ntohs(udp.dest)};
}

Tap::Tap() : fd_(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP)))
{
    sockaddr_ll here = {};

    here.sll_family = AF_PACKET;
    here.sll_protocol = htons(ETH_P_IP);
    here.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
    if (fd_ < 0 || bind(fd_, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot listen to lo");
}

Tap::~Tap()
{
    close(fd_);
}

std::vector<Bytes> Tap::hear(const std::set<uint16_t> &ports, size_t count,
                             std::chrono::milliseconds limit) const
{
    const auto end = std::chrono::steady_clock::now() + limit;
    static uint8_t packet[65536];
    std::vector<Bytes> heard;

    while (heard.size() < count && std::chrono::steady_clock::now() < end) {
        const ssize_t n = recv(fd_, packet, sizeof packet, 0);
        pollfd more = {fd_, POLLIN, 0};

        if (n < 0)
            poll(&more, 1, 10);
        else if (const auto found = datagram_in(packet, static_cast<size_t>(n));
                 found && ports.count(found->to))
            heard.emplace_back(packet + found->begin, packet + found->end);
    }
    return heard;
}
