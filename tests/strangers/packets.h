// SPDX-License-Identifier: BSD-3-Clause
//
// packets.h - datagrams as who listens to a network sees them.
#ifndef TESTS_STRANGERS_PACKETS_H
#define TESTS_STRANGERS_PACKETS_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

using Bytes = std::vector<uint8_t>;

// UDP in IPv4, whole.  Where it lies in the packet's bytes.
struct Datagram {
    size_t header; // of UDP
    size_t begin, end;
    uint16_t from, to; // ports
};
std::optional<Datagram> datagram_in(const uint8_t *packet, size_t length);

// Hears what goes over the loopback interface.
class Tap {
public:
    Tap();
    ~Tap();
    Tap(const Tap &) = delete;
    Tap &operator=(const Tap &) = delete;

    // What datagrams to these ports carry, so many of them or as many as come in that time.
    std::vector<Bytes> hear(const std::set<uint16_t> &ports, size_t count,
                            std::chrono::milliseconds limit) const;

private:
    int fd_;
};

#endif
