// SPDX-License-Identifier: BSD-3-Clause
//
// pair.h - two ranks of a process, each with a reliable endpoint over udp, and a channel between.
#ifndef RELIABLE_TEST_PAIR_H
#define RELIABLE_TEST_PAIR_H

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <reliable/reliable.h>
#include <unet/unet.h>

namespace pair {

constexpr uint32_t BUFFER = 8192;
constexpr uint32_t BUFFERS = 64;
constexpr uint64_t STREAM_AFTER = 300000; // bytes of bulk

// Called with a rank and its endpoint below, before the reliable one is opened in front of it.
using Prepare = std::function<void(int rank, unet_endpoint *lower)>;

struct Pair {
    std::array<unet_endpoint *, 2> ep = {};
    std::array<uint16_t, 2> channel = {};

    // Rank r's bulk of at least stream_bytes[r] goes by TCP.
    explicit Pair(
        const Prepare &prepare = [](int, unet_endpoint *) {},
        const std::array<size_t, 2> &stream_bytes = {0, 0}, reliable_auth auth = RELIABLE_AUTH_FULL)
    {
        for (int rank = 0; rank < 2; rank++)
            open(rank, prepare, stream_bytes[rank], auth);
        for (int rank = 0; rank < 2; rank++)
            connect(rank);
        for (int i = 0; i < 1000 && !both_open(); i++)
            step();
        REQUIRE(both_open());
    }
    // Neither waits, when it disconnects, for what the other would have to acknowledge.
    ~Pair()
    {
        for (int i = 0; i < 1000 && !(unet_idle(ep[0]) && unet_idle(ep[1])); i++)
            step();
        for (int rank = 0; rank < 2; rank++) {
            if (channel[rank] != 0)
                unet_disconnect(ep[rank], channel[rank]);
        }
        unet_close(ep[0]);
        unet_close(ep[1]);
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    void step()
    {
        unet_progress(ep[0]);
        unet_progress(ep[1]);
    }

    // Both make progress until a message is there; NULL: none has come.
    const unet_desc *await(int rank)
    {
        for (int i = 0; i < 100000 && !unet_rx_peek(ep[rank]); i++)
            step();
        return unet_rx_peek(ep[rank]);
    }

private:
    void open(int rank, const Prepare &prepare, size_t stream_bytes, reliable_auth auth)
    {
        const reliable_config config = {
            2, static_cast<uint32_t>(rank), {1, 2}, 60000, auth, stream_bytes, STREAM_AFTER};
        unet_endpoint *lower;
        unet_config sizes = {};

        reliable_lower_config(2, &sizes);
        REQUIRE(unet_open(unet_backend("udp"), &sizes, &lower) == 0);
        prepare(rank, lower);
        sizes = {};
        sizes.segment_bytes = 2 * BUFFERS * BUFFER;
        sizes.free_slots = sizes.recv_slots = BUFFERS;
        REQUIRE(reliable_open(lower, &config, &sizes, &ep[rank]) == 0);
        for (uint32_t i = 0; i < BUFFERS; i++)
            REQUIRE(unet_free_put(ep[rank], i * BUFFER, BUFFER) == 0);
    }
    void connect(int rank)
    {
        struct unet_address address;

        unet_address(ep[!rank], &address);
        REQUIRE(unet_connect(ep[rank], &address, 5, &channel[rank]) == 0);
    }
    bool both_open() const
    {
        return unet_channel_state(ep[0], channel[0]) == UNET_OPEN &&
               unet_channel_state(ep[1], channel[1]) == UNET_OPEN;
    }
};

} // namespace pair

#endif
