// SPDX-License-Identifier: BSD-3-Clause
//
// Queues fill up and empty: back-pressure, the free queue, send completion.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>

TEST_CASE("a full receive ring is back-pressure, never a loss", "[reliable]")
{
    unet_config config = {};
    config.recv_slots = 16;
    config.send_slots = 8;
    Pair pair(config);
    uint32_t taken = 0;

    while (taken < 1000 && send_text(pair.a, pair.ab, "x", taken) == 0)
        taken++;
    CHECK(taken >= 16);
    CHECK(taken < 1000);
    CHECK(pair.a->stats.send_full == 1);
    CHECK(unet_inline_begin(pair.a, pair.ab) == nullptr);
    for (uint32_t i = 0; i < taken; i++)
        REQUIRE(await(pair.b).user == i);
    REQUIRE(eventually([&] { return send_text(pair.a, pair.ab, "again", 99) == 0; }));
    CHECK(await(pair.b).user == 99);
}

TEST_CASE("a full channel does not hold up another", "[reliable][lanes]")
{
    unet_config config = {};
    config.recv_slots = 8;
    Endpoint a(config), slow(config), fast(config);
    uint16_t to_slow, to_fast, x, y;

    join(a, slow, 1, to_slow, x);
    join(a, fast, 2, to_fast, y);
    while (send_text(a, to_slow, "stuck") == 0)
        ;
    for (uint32_t i = 0; i < 100; i++) {
        REQUIRE(send_text(a, to_fast, "moves", i) == 0);
        REQUIRE(await(fast).user == i);
    }
}

TEST_CASE("without free buffers messages wait in the send queue until some are given",
          "[reliable][lanes]")
{
    unet_config config = {};
    config.send_slots = 8;
    Pair pair(config);
    unet_piece piece = {0, 100};
    uint32_t ticket[64], queued = 0;

    while (queued < 64 && unet_send(pair.a, pair.ab, queued, &piece, 1, &ticket[queued]) == 0)
        queued++;
    CHECK(queued >= 8);
    CHECK(queued < 64);
    CHECK(take(pair.b).kind == UNET_EMPTY);
    CHECK_FALSE(unet_sent(pair.a, ticket[0]));
    for (uint32_t i = 0; i < queued; i++) {
        give_buffers(pair.b, 1, 100, i * 100);
        unet_progress(pair.a);
        Message m = await(pair.b);
        CHECK(m.user == i);
        CHECK(unet_sent(pair.a, ticket[i]));
        if (i + 1 < queued)
            CHECK_FALSE(unet_sent(pair.a, ticket[i + 1]));
    }
    CHECK(pair.a->stats.send_full == 1);
}

TEST_CASE("an inline message does not overtake one that waits in the send queue", "[reliable]")
{
    Pair pair;
    unet_piece piece = {0, 100};

    REQUIRE(unet_send(pair.a, pair.ab, 1, &piece, 1, nullptr) == 0);
    REQUIRE(send_text(pair.a, pair.ab, "behind", 2) == 0);
    unet_desc *desc = unet_inline_begin(pair.a, pair.ab);
    REQUIRE(desc != nullptr);
    unet_inline_end(pair.a, pair.ab, 0, 3);
    CHECK(take(pair.b).kind == UNET_EMPTY);

    give_buffers(pair.b, 1, 100);
    unet_progress(pair.a);
    CHECK(await(pair.b).user == 1);
    Message second = await(pair.b);
    CHECK(second.user == 2);
    CHECK(second.channel == pair.ba);
    CHECK(text(second) == "behind");
    CHECK(await(pair.b).user == 3);
    REQUIRE(send_text(pair.a, pair.ab, "direct again", 4) == 0);
    CHECK(await(pair.b).user == 4);
}

TEST_CASE("an inline message on another channel passes one that waits in the send queue")
{
    Endpoint a, stuck, other;
    uint16_t to_stuck, to_other, x, y;
    unet_piece piece = {0, 100};

    join(a, stuck, 1, to_stuck, x);
    join(a, other, 2, to_other, y);
    REQUIRE(unet_send(a, to_stuck, 1, &piece, 1, nullptr) == 0);
    REQUIRE(send_text(a, to_other, "passes", 2) == 0);
    CHECK(await(other).user == 2);
}

TEST_CASE("a partly filled free queue is not nibbled at", "[reliable]")
{
    Pair pair;
    unet_piece large = {0, 300}, small = {0, 100};

    give_buffers(pair.b, 2, 100);
    REQUIRE(unet_send(pair.a, pair.ab, 1, &large, 1, nullptr) == 0);
    CHECK(take(pair.b).kind == UNET_EMPTY);
    give_buffers(pair.b, 1, 100, 200);
    unet_progress(pair.a);
    CHECK(await(pair.b).pieces.size() == 3);
    give_buffers(pair.b, 1, 100);
    REQUIRE(unet_send(pair.a, pair.ab, 2, &small, 1, nullptr) == 0);
    CHECK(await(pair.b).pieces.size() == 1);
}

TEST_CASE("the free queue refuses what lies outside the segment, and more than it holds")
{
    unet_config config = {};
    config.free_slots = 4;
    config.segment_bytes = 8192;
    Endpoint e(config);

    CHECK(unet_free_put(e, 0, 0) == -EINVAL);
    CHECK(unet_free_put(e, 8192, 1) == -EINVAL);
    CHECK(unet_free_put(e, 8191, 2) == -EINVAL);
    CHECK(unet_free_put(e, UINT32_MAX, 2) == -EINVAL);
    CHECK(unet_free_put(e, 1, UINT32_MAX) == -EINVAL);
    CHECK(unet_free_put(e, 8191, 1) == 0);
    CHECK(unet_free_put(e, 0, 8192) == 0);
    CHECK(unet_free_put(e, 0, 1) == 0);
    CHECK(unet_free_put(e, 0, 1) == 0);
    CHECK(unet_free_put(e, 0, 1) == -EAGAIN);
}

TEST_CASE("buffers go round and round")
{
    unet_config config = {};
    config.free_slots = 4;
    Pair pair(config);

    give_buffers(pair.b, 3, 512);
    for (uint32_t i = 0; i < 1000; i++) {
        Bytes sent = pattern(1 + i % 1500, i);
        unet_piece piece = {0, static_cast<uint32_t>(sent.size())};

        fill(pair.a, 0, sent);
        REQUIRE(unet_send(pair.a, pair.ab, i, &piece, 1, nullptr) == 0);
        Message m = await(pair.b, 512);
        REQUIRE(m.user == i);
        REQUIRE(m.bytes == sent);
    }
}

TEST_CASE("senders of several endpoints share a free queue without mixing buffers")
{
    Endpoint hub, s[3];
    uint16_t at_hub[3], to_hub[3];

    give_buffers(hub, 64, 128);
    for (uint32_t i = 0; i < 3; i++) {
        join(hub, s[i], 1 + i, at_hub[i], to_hub[i]);
        fill(s[i], 0, Bytes(128, static_cast<uint8_t>('a' + i)));
    }
    for (uint32_t round = 0; round < 20; round++) {
        unet_piece piece = {0, 128};

        for (uint32_t i = 0; i < 3; i++)
            REQUIRE(unet_send(s[i], to_hub[i], i, &piece, 1, nullptr) == 0);
        for (uint32_t i = 0; i < 3; i++) {
            Message m = await(hub, 128);
            REQUIRE(m.user < 3);
            CHECK(m.channel == at_hub[m.user]);
            CHECK(m.bytes == Bytes(128, static_cast<uint8_t>('a' + m.user)));
        }
    }
}
