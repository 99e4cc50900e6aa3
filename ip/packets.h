// SPDX-License-Identifier: BSD-3-Clause
//
// packets.h - packets made by hand, for a process without a stack.
#ifndef IP_PACKETS_H
#define IP_PACKETS_H

#include "world.h"

#include <netinet/ip.h>
#include <vector>

using Packet = std::vector<uint8_t>;

in_addr_t number(const char *text);
uint16_t checksum(const uint8_t *bytes, size_t length); // of RFC 1071, of an even number of bytes

// From 10.0.0.2 to 10.0.0.1: an echo request, after `change` to its IP header.
Packet ping(const std::function<void(struct iphdr &)> &change = {}, size_t length = 64);

// A TCP segment with `length` bytes, with both checksums; a SYN says `mss` if that is not 0, and
// then `scale`, if that is not.
Packet segment(in_port_t port, uint32_t sequence, uint32_t acknowledged, uint8_t flags,
               size_t length, uint16_t mss = 0, uint8_t scale = 0);

// The sum of a packet's TCP segment with its pseudo header: 0 if the checksum in it is right.
uint16_t segment_checksum(const Packet &packet);

void send_raw(Node &node, const Packet &packet);
Packet next_packet(Node &node); // waits for it; its buffers go back

#endif
