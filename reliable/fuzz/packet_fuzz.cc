// SPDX-License-Identifier: BSD-3-Clause
//
// Any packets at all, of our version and with a right hash so that they get past both: a job's rank
// that has gone mad.
// The input is a series of packets, each behind two bytes of length and two of time that goes by.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "src/connection.h"

namespace {

const uint64_t key[2] = {1, 2};

void deliver(void *arg, uint32_t source, uint32_t, const void *data, size_t length, bool)
{
    static volatile uint8_t sum;

    if (source >= 4)
        std::abort();
    for (size_t i = 0; i < length; i++)
        sum = sum + static_cast<const uint8_t *>(data)[i];
    if (length % 3 == 0)
        reliable_engine_send(*static_cast<reliable_engine **>(arg), 0, source, 0, data, length);
}

reliable_engine *open_engine(reliable_engine **self)
{
    reliable_engine_config config = {};

    config.ranks = 4;
    config.rank = 1;
    config.key[0] = key[0];
    config.key[1] = key[1];
    config.packet_bytes = 1024;
    config.backlog = 64;
    config.peer_timeout_us = 1000000;
    config.deliver = deliver;
    config.arg = self;
    if (reliable_engine_open(&config, self) != 0)
        std::abort();
    return *self;
}

void transmit_all(reliable_engine *engine, uint64_t now)
{
    uint32_t rank;
    size_t length;

    while (reliable_engine_transmit(engine, now, &rank, &length)) {
        if (rank >= 4 || length > 1024)
            std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reliable_engine *engine;
    reliable_mac mac;
    uint64_t now = 1;

    reliable_mac_open(&mac, key, RELIABLE_AUTH_FULL);
    open_engine(&engine);
    for (uint32_t rank = 0; rank < 4; rank++)
        reliable_engine_send(engine, now, rank, 0, "seven", 5);
    while (size >= 4) {
        uint16_t head[2];
        std::vector<uint64_t> words;
        size_t length;

        std::memcpy(head, data, sizeof(head));
        length = std::min<size_t>(head[0] % 2048, size - 4);
        now += head[1];
        words.resize(length / 8 + 1);
        std::memcpy(words.data(), data + 4, length);
        if (length >= sizeof(reliable_packet)) {
            auto *packet = reinterpret_cast<reliable_packet *>(words.data());

            packet->version = RELIABLE_PACKET_VERSION;
            packet->mac = reliable_mac_packet(&mac, packet, packet->ack, length);
        }
        transmit_all(engine, now);
        reliable_engine_receive(engine, now, words.data(), length);
        data += 4 + length;
        size -= 4 + length;
    }
    transmit_all(engine, now);
    reliable_engine_close(engine);
    return 0;
}
