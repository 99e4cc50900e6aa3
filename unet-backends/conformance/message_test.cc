// SPDX-License-Identifier: BSD-3-Clause
//
// Messages arrive whole, in order and where they should.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <random>

TEST_CASE("progress tells whether it has moved anything")
{
    Pair pair;
    int moved = 0;

    give_buffers(pair.b, 4, 4096);
    while (unet_progress(pair.a) > 0 || unet_progress(pair.b) > 0)
        ;
    CHECK(unet_progress(pair.b) == 0);
    REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    CHECK(eventually([&] {
        const int some = unet_progress(pair.a) + unet_progress(pair.b);

        REQUIRE(some >= 0);
        moved += some;
        return unet_rx_peek(pair.b) != nullptr;
    }));
    if (pair.b->wired) // otherwise senders, or a kernel module, have moved it
        CHECK(moved > 0);
}

TEST_CASE("inline messages of every size arrive unchanged")
{
    Pair pair;

    for (uint32_t length = 0; length <= UNET_INLINE_MAX; length++) {
        Bytes sent = pattern(length, length);

        REQUIRE(unet_send_inline(pair.a, pair.ab, 1000 + length, sent.data(), length) == 0);
        Message m = await(pair.b);
        REQUIRE(m.kind == UNET_INLINE);
        CHECK(m.channel == pair.ba);
        CHECK(m.user == 1000 + length);
        CHECK(m.length == length);
        CHECK(m.bytes == sent);
    }
}

TEST_CASE("an inline message longer than a descriptor is refused")
{
    Pair pair;
    Bytes sent = pattern(UNET_INLINE_MAX + 1, 1);

    CHECK(unet_send_inline(pair.a, pair.ab, 0, sent.data(), UNET_INLINE_MAX + 1) == -EMSGSIZE);
    CHECK(unet_send_inline(pair.a, pair.ab, 0, sent.data(), UINT32_MAX) == -EMSGSIZE);
    CHECK(take(pair.b).kind == UNET_EMPTY);
}

TEST_CASE("the two-step inline send composes in place")
{
    Pair pair;
    unet_desc *desc = unet_inline_begin(pair.a, pair.ab);

    REQUIRE(desc != nullptr);
    CHECK(unet_inline_begin(pair.a, pair.ab) == desc);
    desc->word[0] = 0x0123456789abcdef;
    desc->word[1] = 42;
    CHECK(take(pair.b).kind == UNET_EMPTY);
    unet_inline_end(pair.a, pair.ab, 16, 77);
    Message m = await(pair.b);
    CHECK(m.user == 77);
    CHECK(m.length == 16);
    CHECK(m.bytes[0] == 0xef);
    CHECK(m.bytes[8] == 42);
}

TEST_CASE("messages of a channel arrive in order, over many laps of the ring", "[reliable]")
{
    unet_config config = {};
    config.recv_slots = 8;
    Pair pair(config);
    uint32_t next = 0;

    for (uint32_t i = 0; i < 5000; i++) {
        while (unet_send_inline(pair.a, pair.ab, i, &i, sizeof i) == -EAGAIN)
            CHECK(await(pair.b).user == next++);
    }
    while (next < 5000)
        REQUIRE(await(pair.b).user == next++);
    CHECK(take(pair.b).kind == UNET_EMPTY);
}

TEST_CASE("inline and segment messages of a channel keep their order", "[reliable]")
{
    Pair pair;
    uint32_t next = 0;

    give_buffers(pair.b, 16, 256);
    fill(pair.a, 0, pattern(4096, 3));
    for (uint32_t i = 0; i < 2000; i++) {
        unet_piece piece = {i % 1000, 1 + i % 200};
        int error;

        do {
            error = i % 3 ? unet_send(pair.a, pair.ab, i, &piece, 1, nullptr)
                          : send_text(pair.a, pair.ab, "inline", i);
            if (error == -EAGAIN || i % 7 == 0) {
                Message m = take(pair.b, 256);
                if (m.kind != UNET_EMPTY)
                    REQUIRE(m.user == next++);
                unet_progress(pair.a);
            }
        } while (error == -EAGAIN);
        REQUIRE(error == 0);
    }
    REQUIRE(eventually([&] {
        unet_progress(pair.a);
        Message m = take(pair.b, 256);
        if (m.kind != UNET_EMPTY)
            REQUIRE(m.user == next++);
        return next == 2000;
    }));
}

TEST_CASE("both directions and several channels do not mix")
{
    Endpoint hub, spoke[4];
    uint16_t from_hub[4], to_hub[4];

    for (int i = 0; i < 4; i++)
        join(hub, spoke[i], 10 + i, from_hub[i], to_hub[i]);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 4; i++) {
            REQUIRE(send_text(hub, from_hub[i], "to " + std::to_string(i), round) == 0);
            REQUIRE(send_text(spoke[i], to_hub[i], "from " + std::to_string(i), round) == 0);
        }
        for (uint32_t i = 0; i < 4; i++) {
            Message at_spoke = await(spoke[i]), at_hub = await(hub);
            uint32_t source = 0;

            CHECK(text(at_spoke) == "to " + std::to_string(i));
            CHECK(at_spoke.user == round);
            while (source < 3 && from_hub[source] != at_hub.channel)
                source++;
            CHECK(text(at_hub) == "from " + std::to_string(source));
            CHECK(at_hub.user == round);
        }
    }
}

TEST_CASE("receive rings take turns: a busy channel does not starve another", "[lanes]")
{
    Endpoint hub, busy, quiet;
    uint16_t hub_busy, hub_quiet, b, q;

    join(hub, busy, 1, hub_busy, b);
    join(hub, quiet, 2, hub_quiet, q);
    for (int i = 0; i < 100; i++)
        REQUIRE(send_text(busy, b, "busy") == 0);
    REQUIRE(send_text(quiet, q, "quiet") == 0);
    settle_arrivals(hub, 101);
    unsigned before = 0;
    while (await(hub).channel != hub_quiet)
        before++;
    INFO(before << " messages of the busy channel came before that of the quiet one");
    CHECK(before <= UNET_RX_BURST);
}

TEST_CASE("two channels between the same endpoints are told apart by their tags")
{
    Pair pair;
    uint16_t ab, ba;

    join(pair.a, pair.b, 0x777, ab, ba);
    CHECK(ab != pair.ab);
    REQUIRE(send_text(pair.a, ab, "second") == 0);
    CHECK(await(pair.b).channel == ba);
    REQUIRE(send_text(pair.a, pair.ab, "first") == 0);
    CHECK(await(pair.b).channel == pair.ba);
}

TEST_CASE("an endpoint can have a channel to itself")
{
    Endpoint e;
    struct unet_address self = e.address();
    uint16_t channel;

    REQUIRE(unet_connect(e, &self, 5, &channel) == 0);
    REQUIRE(eventually([&] { return unet_channel_state(e, channel) == UNET_OPEN; }));
    REQUIRE(send_text(e, channel, "to myself") == 0);
    Message m = await(e);
    CHECK(m.channel == channel);
    CHECK(text(m) == "to myself");
}

// ---- gather and scatter ------------------------------------------------------

TEST_CASE("one to four pieces of odd sizes are gathered in order", "[long]")
{
    Pair pair;
    std::mt19937 random(7);

    give_buffers(pair.b, 4, 8192, 65536);
    fill(pair.a, 0, pattern(65536, 9));
    for (int i = 0; i < 200; i++) {
        uint32_t count = 1 + random() % UNET_PIECES_MAX;
        unet_piece piece[UNET_PIECES_MAX];
        Bytes expected;

        for (uint32_t k = 0; k < count; k++) {
            piece[k] = {static_cast<uint32_t>(random() % 60000),
                        static_cast<uint32_t>(1 + random() % 2000)};
            Bytes part = segment_bytes(pair.a, piece[k].offset, piece[k].length);
            expected.insert(expected.end(), part.begin(), part.end());
        }
        REQUIRE(unet_send(pair.a, pair.ab, i, piece, count, nullptr) == 0);
        Message m = await(pair.b, 8192);
        REQUIRE(m.kind == UNET_PIECES);
        CHECK(m.pieces.size() == 1);
        CHECK(m.length == expected.size());
        CHECK(m.bytes == expected);
    }
}

TEST_CASE("messages that were to be followed by more go with the last, in order")
{
    Pair pair;

    give_buffers(pair.b, 12, 256, 65536);
    fill(pair.a, 0, pattern(1200, 4));
    for (uint32_t i = 0; i < 12; i++) {
        unet_piece piece = {i * 100, 40 + i};
        const auto send = i < 11 ? unet_send_more : unet_send;

        REQUIRE(send(pair.a, pair.ab, i, &piece, 1, nullptr) == 0);
    }
    for (uint32_t i = 0; i < 12; i++) {
        Message m = await(pair.b);

        REQUIRE(m.user == i);
        CHECK(m.bytes == segment_bytes(pair.a, i * 100, 40 + i));
    }
}

TEST_CASE("empty pieces beside full ones do no harm")
{
    Pair pair;
    unet_piece piece[4] = {{0, 0}, {100, 5}, {pair.a->config.segment_bytes, 0}, {200, 3}};

    give_buffers(pair.b, 1, 64);
    fill(pair.a, 100, {'h', 'e', 'l', 'l', 'o'});
    fill(pair.a, 200, {'y', 'o', 'u'});
    REQUIRE(unet_send(pair.a, pair.ab, 0, piece, 4, nullptr) == 0);
    CHECK(text(await(pair.b)) == "helloyou");
}

TEST_CASE("a message longer than a buffer takes several, filled one after the other", "[long]")
{
    Pair pair;
    uint32_t length = GENERATE(1u, 999u, 1000u, 1001u, 2000u, 3001u, 3999u, 4000u);
    unet_piece piece = {17, length};
    Bytes sent = pattern(length, length);

    give_buffers(pair.b, 8, 1000);
    fill(pair.a, 17, sent);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    Message m = await(pair.b);
    REQUIRE(m.kind == UNET_PIECES);
    CHECK(m.bytes == sent);
    REQUIRE(m.pieces.size() == (length + 999) / 1000);
    for (size_t i = 0; i < m.pieces.size(); i++) {
        CHECK(m.pieces[i].offset == i * 1000);
        CHECK(m.pieces[i].length == (i + 1 < m.pieces.size() ? 1000 : length - i * 1000));
    }
}

TEST_CASE("the largest message arrives, a byte more is refused", "[reliable]")
{
    Pair pair;
    Bytes sent = pattern(UNET_MESSAGE_MAX, 11);
    unet_piece halves[2] = {{0, 40000}, {40000, UNET_MESSAGE_MAX - 40000}};

    give_buffers(pair.b, 4, UNET_MESSAGE_MAX / 4 + 100);
    fill(pair.a, 0, sent);
    REQUIRE(unet_send(pair.a, pair.ab, 0, halves, 2, nullptr) == 0);
    CHECK(await(pair.b).bytes == sent);

    halves[1].length++;
    REQUIRE(unet_send(pair.a, pair.ab, 8, halves, 2, nullptr) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EMSGSIZE);
    CHECK(refused.user == 8);
}

TEST_CASE("a message that four buffers cannot hold is refused, and takes none", "[reliable]")
{
    Pair pair;
    unet_piece piece = {0, 401};

    give_buffers(pair.b, 5, 100);
    REQUIRE(unet_send(pair.a, pair.ab, 3, &piece, 1, nullptr) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EMSGSIZE);
    piece.length = 400;
    REQUIRE(unet_send(pair.a, pair.ab, 4, &piece, 1, nullptr) == 0);
    CHECK(await(pair.b).pieces.size() == 4);
}

// ---- direct access -------------------------------------------------------------

TEST_CASE("a direct send lands at the offset that the sender names")
{
    Pair pair;
    unet_piece piece[2] = {{10, 300}, {5000, 77}};
    Bytes first = pattern(300, 1), second = pattern(77, 2), both = first;

    if (!(pair.a->capabilities & UNET_CAP_DIRECT))
        return;
    both.insert(both.end(), second.begin(), second.end());
    fill(pair.a, 10, first);
    fill(pair.a, 5000, second);
    REQUIRE(unet_send_direct(pair.a, pair.ab, 6, piece, 2, 12345, nullptr) == 0);
    Message m = await(pair.b);
    CHECK(m.kind == UNET_DIRECT);
    CHECK(m.user == 6);
    REQUIRE(m.pieces.size() == 1);
    CHECK(m.pieces[0].offset == 12345);
    CHECK(m.bytes == both);
    CHECK(pair.b->segment[12344] == 0);
    CHECK(pair.b->segment[12345 + 377] == 0);
}

TEST_CASE("a direct send outside the peer's segment is refused and writes nothing")
{
    Pair pair;
    uint32_t end = pair.b->config.segment_bytes;
    uint64_t remote = GENERATE_COPY(uint64_t(end), uint64_t(end - 99), uint64_t(end) + 1,
                                    uint64_t(1) << 32, UINT64_MAX, UINT64_MAX - 99);
    unet_piece piece = {0, 100};

    if (!(pair.a->capabilities & UNET_CAP_DIRECT))
        return;
    fill(pair.a, 0, Bytes(100, 0xff));
    REQUIRE(unet_send_direct(pair.a, pair.ab, 1, &piece, 1, remote, nullptr) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EFAULT);
    CHECK(take(pair.b).kind == UNET_EMPTY);
    CHECK(segment_bytes(pair.b, 0, end) == Bytes(end, 0));
}

TEST_CASE("a direct send may end at the very end of the peer's segment")
{
    Pair pair;
    uint32_t end = pair.b->config.segment_bytes;
    unet_piece piece = {0, 100};

    if (!(pair.a->capabilities & UNET_CAP_DIRECT))
        return;
    fill(pair.a, 0, Bytes(100, 0xee));
    REQUIRE(unet_send_direct(pair.a, pair.ab, 1, &piece, 1, end - 100, nullptr) == 0);
    CHECK(await(pair.b).bytes == Bytes(100, 0xee));
}

// ---- counters -----------------------------------------------------------------------

TEST_CASE("counters tell messages and bytes on both sides")
{
    Pair pair;
    unet_piece piece = {0, 1000};

    give_buffers(pair.b, 2, 4096);
    REQUIRE(send_text(pair.a, pair.ab, "12345") == 0);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    await(pair.b);
    await(pair.b);
    CHECK(pair.a->stats.sent == 2);
    CHECK(pair.a->stats.sent_bytes == 1005);
    CHECK(pair.b->stats.received == 2);
    CHECK(pair.b->stats.received_bytes == 1005);
    CHECK(pair.b->stats.malformed + pair.b->stats.foreign == 0);
}
