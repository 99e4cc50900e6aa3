// SPDX-License-Identifier: BSD-3-Clause
//
// peer.h - a peer of the protocol's state machine, whose packets tests carry by hand.
#ifndef RELIABLE_PEER_H
#define RELIABLE_PEER_H

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "src/connection.h"

constexpr uint64_t KEY[2] = {0x1111222233334444, 0x5555666677778888};
constexpr uint32_t PACKET = 1024; // bytes, the longest
constexpr size_t PART = PACKET - sizeof(reliable_packet) - sizeof(reliable_frame); // of a message
constexpr uint32_t BATCH = 32768; // bytes that are worth a call: more than the tests send

constexpr uint32_t PAUSE = 7; // the kind of notes behind which messages wait

// A packet on its way, aligned as engine.h asks.
struct Wire {
    std::vector<uint64_t> words;
    size_t length = 0;

    reliable_packet &header() { return *reinterpret_cast<reliable_packet *>(words.data()); }
    uint8_t *bytes() { return reinterpret_cast<uint8_t *>(words.data()); }
    void seal()
    {
        reliable_mac mac;

        reliable_mac_open(&mac, KEY, RELIABLE_AUTH_FULL);
        header().mac = reliable_mac_packet(&mac, &header(), header().ack, length);
    }
};

class Peer {
public:
    explicit Peer(uint32_t rank, uint32_t ranks = 2, uint32_t sure = 0)
    {
        reliable_engine_config config = {};

        config.ranks = ranks;
        config.rank = rank;
        config.key[0] = KEY[0];
        config.key[1] = KEY[1];
        config.packet_bytes = PACKET;
        config.packet_sure = sure;
        config.backlog = 256;
        config.peer_timeout_us = 1000000;
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
        config.note = [](void *arg, uint32_t, uint32_t kind, const void *data, size_t length) {
            auto *self = static_cast<Peer *>(arg);

            self->messages.push_back("note " + std::to_string(kind) + " " +
                                     std::string(static_cast<const char *>(data), length));
            return kind == PAUSE;
        };
        REQUIRE(reliable_engine_open(&config, &engine) == 0);
    }
    ~Peer() { reliable_engine_close(engine); }
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    int send(const std::string &text, uint32_t to = 1)
    {
        return reliable_engine_send(engine, now, to, 0, text.data(), text.size());
    }
    int note(uint32_t kind, const std::string &text, uint32_t to = 1)
    {
        return reliable_engine_note(engine, now, to, kind, text.data(), text.size());
    }
    // All packets that go now.
    std::vector<Wire> transmit()
    {
        std::vector<Wire> wires;
        const void *packet;
        uint32_t rank;
        size_t length;

        while ((packet = reliable_engine_transmit(engine, now, &rank, &length)) != nullptr) {
            Wire wire;

            wire.words.resize((length + 7) / 8);
            wire.length = length;
            std::memcpy(wire.words.data(), packet, length);
            wires.push_back(std::move(wire));
        }
        return wires;
    }
    void receive(Wire &wire)
    {
        reliable_engine_receive(engine, now, wire.words.data(), wire.length);
    }
    void receive(std::vector<Wire> wires)
    {
        for (Wire &wire : wires)
            receive(wire);
    }
    struct reliable_engine_stats stats() const
    {
        struct reliable_engine_stats stats;

        reliable_engine_stats(engine, &stats);
        return stats;
    }

    reliable_engine *engine = nullptr;
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
