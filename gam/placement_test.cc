// SPDX-License-Identifier: BSD-3-Clause
//
// placement_test.cc - pieces of transfers that go straight to their address, and pieces that lie:
// rank 0 has an instance, and rank 1 is a reliable endpoint that writes any message.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <reliable/reliable.h>
#include <vector>

extern "C" {
#include "src/internal.h"
}

namespace {

constexpr uint64_t KEY[2] = {3, 4};
constexpr uint32_t HANDLER = 9;
int handled;

int resolve(void *arg, uint32_t rank, struct unet_address *address)
{
    *address = static_cast<struct unet_address *>(arg)[rank];
    return 0;
}

struct Liar {
    unet_endpoint *ep[2] = {};
    gam *g = nullptr;
    uint16_t channel = 0; // of rank 1 to rank 0

    Liar()
    {
        struct unet_address address[2];
        const gam_config config = {2, 0, {KEY[0], KEY[1]}, resolve, address, 0, nullptr};

        for (uint32_t rank = 0; rank < 2; rank++)
            open(rank, address);
        REQUIRE(unet_connect(ep[1], &address[0], gam_tag(KEY, 0, 1), &channel) == 0);
        REQUIRE(gam_open(ep[0], &config, &g) == 0);
        handled = 0;
        REQUIRE(gam_register(g, HANDLER, [](gam *, const gam_message *) { handled++; }) == 0);
        for (int i = 0; i < 1000 && unet_channel_state(ep[1], channel) != UNET_OPEN; i++)
            step();
        REQUIRE(unet_channel_state(ep[1], channel) == UNET_OPEN);
    }
    ~Liar()
    {
        unet_disconnect(ep[1], channel);
        gam_close(g);
        unet_close(ep[0]);
        unet_close(ep[1]);
    }
    Liar(const Liar &) = delete;
    Liar &operator=(const Liar &) = delete;

    void step()
    {
        gam_poll(g);
        unet_progress(ep[1]);
    }
    void send(gam_kind kind, const gam_place &place, const std::vector<uint8_t> &bytes)
    {
        const iovec iov[] = {{const_cast<gam_place *>(&place), sizeof(place)},
                             {const_cast<uint8_t *>(bytes.data()), bytes.size()}};

        REQUIRE(unet_sendv(ep[1], channel, gam_user(kind, HANDLER, 0), iov, 2) == 0);
    }
    void send_rows(const gam_rows_place &place, const std::vector<uint8_t> &bytes)
    {
        gam_place words;

        std::memcpy(&words, &place, sizeof(words));
        send(GAM_ROWS_DATA, words, bytes);
    }
    // Until rank 0 has handled, refused or dropped that many messages in all.
    void await(uint64_t messages)
    {
        for (int i = 0; i < 100000 && done() < messages; i++)
            step();
        REQUIRE(done() == messages);
    }
    uint64_t refused() const
    {
        struct gam_stats stats;

        gam_stats(g, &stats);
        return stats.refused;
    }
    uint64_t dropped() const { return ep[0]->stats.overruns; }

private:
    uint64_t done() const { return static_cast<uint64_t>(handled) + refused() + dropped(); }
    void open(uint32_t rank, struct unet_address *address)
    {
        const reliable_config config = {2, rank, {KEY[0], KEY[1]}, 60000, RELIABLE_AUTH_FULL, 0, 0};
        unet_endpoint *lower;
        unet_config sizes = {};

        reliable_lower_config(2, &sizes);
        REQUIRE(unet_open(unet_backend("udp"), &sizes, &lower) == 0);
        sizes = {};
        gam_network_config(2, 0, &sizes);
        REQUIRE(reliable_open(lower, &config, &sizes, &ep[rank]) == 0);
        unet_address(ep[rank], &address[rank]);
    }
};

uint64_t address_of(const void *at)
{
    return reinterpret_cast<uintptr_t>(at);
}

} // namespace

TEST_CASE("a piece is at its address when its handler runs, and no buffer has held it")
{
    std::vector<uint8_t> memory(4000, 0xee), bytes(3000, 7);
    Liar liar;
    const uint32_t buffers = liar.ep[0]->free.position;

    liar.send(GAM_STORE_DATA, {address_of(&memory[500]), 0, 3000, 0}, bytes);
    liar.await(1);
    CHECK(handled == 1);
    CHECK(std::count(memory.begin(), memory.end(), 7) == 3000);
    CHECK(std::equal(bytes.begin(), bytes.end(), &memory[500]));
    CHECK(liar.ep[0]->free.position == buffers);
}

TEST_CASE("a piece that lies about its place is refused, and nothing is written")
{
    struct Lie {
        const char *what;
        gam_kind kind;
        std::function<gam_place(uint8_t *)> place;
    };
    const Lie lies[] = {
        {"the answer to a get that nobody asked for", GAM_GET_DATA,
         [](uint8_t *to) {
             return gam_place{address_of(to), 0, 3000, 0};
         }},
        {"an offset beyond the whole", GAM_STORE_DATA,
         [](uint8_t *to) {
             return gam_place{address_of(to) - 4000, 4000, 3000, 0};
         }},
        {"an offset at the end of the whole", GAM_STORE_DATA,
         [](uint8_t *to) {
             return gam_place{address_of(to) - 3000, 3000, 3000, 0};
         }},
        {"a range that wraps around", GAM_STORE_DATA,
         [](uint8_t *to) {
             return gam_place{address_of(to) + 5000, UINT64_MAX - 4999, UINT64_MAX - 1, 0};
         }},
    };
    std::vector<uint8_t> memory(12000, 0xee), bytes(3000, 7);

    for (const Lie &lie : lies) {
        Liar liar;

        INFO(lie.what);
        liar.send(lie.kind, lie.place(&memory[4000]), bytes);
        liar.await(1);
        CHECK(liar.refused() == 1);
        CHECK(std::count(memory.begin(), memory.end(), 0xee) == 12000);
        liar.send(GAM_STORE_DATA, {address_of(&bytes[0]), 0, 3000, 0}, bytes);
        liar.await(2);
        CHECK(handled == 1); // the way is still open
    }
}

TEST_CASE("a piece that is longer than the rest of the whole writes nothing behind that")
{
    std::vector<uint8_t> memory(4000, 0xee), bytes(3000, 7);
    Liar liar;

    liar.send(GAM_STORE_DATA, {address_of(&memory[0]), 0, 2999, 0}, bytes);
    liar.await(1);
    CHECK(liar.dropped() == 1);
    CHECK(std::count(memory.begin() + 2999, memory.end(), 0xee) == 1001);
}

TEST_CASE("a piece of rows is in them when its handler runs, and no buffer has held it")
{
    std::vector<uint8_t> memory(12000, 0xee), bytes(3000, 7);
    Liar liar;
    const uint32_t buffers = liar.ep[0]->free.position;

    // 600 of the first row, and two whole ones; those that there might be behind them are no rows.
    liar.send_rows({address_of(&memory[0]), 600, 1200, 4000, 0}, bytes);
    liar.await(1);
    CHECK(handled == 1);
    CHECK(std::count(memory.begin(), memory.end(), 7) == 3000);
    for (size_t begin : {600, 4000, 8000}) {
        const size_t end = begin == 600 ? 1200 : begin + 1200;

        CHECK(std::count(&memory[begin], &memory[end], 7) == static_cast<long>(end - begin));
    }
    CHECK(liar.ep[0]->free.position == buffers);
}

TEST_CASE("a piece of rows that lies about its place is refused, and nothing is written")
{
    std::vector<uint8_t> memory(12000, 0xee), bytes(3000, 7);
    const uint64_t base = address_of(&memory[4000]);
    const gam_rows_place lies[] = {
        {base, 1000, 1000, 1000, 0},  {base, 5, 0, 1000, 0},
        {0, 0, 1000, 1000, 0},        {~0ull - 1500, 0, 1000, 1000, 0},
        {base, 0, 1000, 0 - base, 0}, {base, 0, 1000, 1ull << 62, 0},
    };

    for (const gam_rows_place &lie : lies) {
        Liar liar;

        INFO("at " << lie.base << " from " << lie.start << " of " << lie.bytes << " every "
                   << lie.stride);
        liar.send_rows(lie, bytes);
        liar.await(1);
        CHECK(liar.refused() == 1);
        CHECK(std::count(memory.begin(), memory.end(), 0xee) == 12000);
        liar.send_rows({base, 0, 1000, 1000, 0}, bytes);
        liar.await(2);
        CHECK(handled == 1); // the way is still open
        std::fill(memory.begin(), memory.end(), 0xee);
    }
}

TEST_CASE("rows that only a longer piece would reach may be nowhere")
{
    std::vector<uint8_t> memory(3000, 0xee), bytes(1500, 7);
    Liar liar;

    const uint64_t base = address_of(&memory[1000]);
    liar.send_rows({base, 0, 1500, 0 - base / 2, 0}, bytes); // a third row would be at 0
    liar.await(1);
    CHECK(handled == 1);
    CHECK(std::count(&memory[1000], &memory[2500], 7) == 1500);
}
