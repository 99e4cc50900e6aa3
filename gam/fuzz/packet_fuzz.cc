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

#include "src/link.h"

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
        gam_net_send(*static_cast<gam_net **>(arg), 0, source, 0, data, length);
}

gam_net *open_net(gam_net **self)
{
    gam_net_config config = {};

    config.ranks = 4;
    config.rank = 1;
    config.key[0] = key[0];
    config.key[1] = key[1];
    config.packet_bytes = 1024;
    config.backlog = 64;
    config.peer_timeout_us = 1000000;
    config.deliver = deliver;
    config.arg = self;
    if (gam_net_open(&config, self) != 0)
        std::abort();
    return *self;
}

void transmit_all(gam_net *net, uint64_t now)
{
    uint32_t rank;
    size_t length;

    while (gam_net_transmit(net, now, &rank, &length)) {
        if (rank >= 4 || length > 1024)
            std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gam_net *net;
    gam_mac mac;
    uint64_t now = 1;

    gam_mac_open(&mac, key);
    open_net(&net);
    for (uint32_t rank = 0; rank < 4; rank++)
        gam_net_send(net, now, rank, 0, "seven", 5);
    while (size >= 4) {
        uint16_t head[2];
        std::vector<uint64_t> words;
        size_t length;

        std::memcpy(head, data, sizeof(head));
        length = std::min<size_t>(head[0] % 2048, size - 4);
        now += head[1];
        words.resize(length / 8 + 1);
        std::memcpy(words.data(), data + 4, length);
        if (length >= sizeof(gam_packet)) {
            auto *packet = reinterpret_cast<gam_packet *>(words.data());

            packet->version = GAM_PACKET_VERSION;
            packet->mac = gam_packet_mac(&mac, packet, packet->ack, length);
        }
        transmit_all(net, now);
        gam_net_receive(net, now, words.data(), length);
        data += 4 + length;
        size -= 4 + length;
    }
    transmit_all(net, now);
    gam_net_close(net);
    return 0;
}
