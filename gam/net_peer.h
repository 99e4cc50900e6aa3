// SPDX-License-Identifier: BSD-3-Clause
//
// net_peer.h - a peer of the protocol's state machine, whose packets tests carry by hand.
#ifndef GAM_NET_PEER_H
#define GAM_NET_PEER_H

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "src/link.h"

constexpr uint64_t KEY[2] = {0x1111222233334444, 0x5555666677778888};
constexpr uint32_t PACKET = 1024;                                        // bytes, the longest
constexpr size_t PART = PACKET - sizeof(gam_packet) - sizeof(gam_frame); // of a message
constexpr uint32_t BATCH = 32768; // bytes that are worth a call: more than the tests send

// A packet on its way, aligned as net.h asks.
struct Wire {
    std::vector<uint64_t> words;
    size_t length = 0;

    gam_packet &header() { return *reinterpret_cast<gam_packet *>(words.data()); }
    uint8_t *bytes() { return reinterpret_cast<uint8_t *>(words.data()); }
    void seal()
    {
        gam_mac mac;

        gam_mac_open(&mac, KEY);
        header().mac = gam_packet_mac(&mac, &header(), header().ack, length);
    }
};

class Peer {
public:
    explicit Peer(uint32_t rank, uint32_t ranks = 2, bool go_back_n = false, uint32_t sure = 0)
    {
        gam_net_config config = {};

        config.ranks = ranks;
        config.rank = rank;
        config.key[0] = KEY[0];
        config.key[1] = KEY[1];
        config.packet_bytes = PACKET;
        config.packet_sure = sure;
        config.backlog = 256;
        config.peer_timeout_us = 1000000;
        config.go_back_n = go_back_n;
        config.arg = this;
        config.deliver = [](void *arg, uint32_t, uint32_t, const void *data, size_t length,
                            bool more) {
            auto *self = static_cast<Peer *>(arg);

            self->part.append(static_cast<const char *>(data), length);
            if (!more) {
                self->messages.push_back(self->part);
                self->part.clear();
            }
        };
        config.died = [](void *arg, uint32_t rank) {
            static_cast<Peer *>(arg)->died.push_back(rank);
        };
        REQUIRE(gam_net_open(&config, &net) == 0);
    }
    ~Peer() { gam_net_close(net); }
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    int send(const std::string &text, uint32_t to = 1)
    {
        return gam_net_send(net, now, to, 0, text.data(), text.size());
    }
    // All packets that go now.
    std::vector<Wire> transmit()
    {
        std::vector<Wire> wires;
        const void *packet;
        uint32_t rank;
        size_t length;

        while ((packet = gam_net_transmit(net, now, &rank, &length)) != nullptr) {
            Wire wire;

            wire.words.resize((length + 7) / 8);
            wire.length = length;
            std::memcpy(wire.words.data(), packet, length);
            wires.push_back(std::move(wire));
        }
        return wires;
    }
    void receive(Wire &wire) { gam_net_receive(net, now, wire.words.data(), wire.length); }
    void receive(std::vector<Wire> wires)
    {
        for (Wire &wire : wires)
            receive(wire);
    }
    struct gam_net_stats stats() const
    {
        struct gam_net_stats stats;

        gam_net_stats(net, &stats);
        return stats;
    }

    gam_net *net = nullptr;
    uint64_t now = 1000;
    std::string part;
    std::vector<std::string> messages;
    std::vector<uint32_t> died;
};

using Texts = std::vector<std::string>;

// So many packets of `a`, all on their way.
inline std::vector<Wire> flight_of(Peer &a, int count)
{
    std::vector<Wire> all;

    for (int i = 0; i < count; i++) {
        REQUIRE(a.send(std::string(960, static_cast<char>('a' + i))) == 0);
        for (Wire &wire : a.transmit())
            all.push_back(wire);
    }
    REQUIRE(all.size() == static_cast<size_t>(count));
    return all;
}

#endif
