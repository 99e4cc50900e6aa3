// SPDX-License-Identifier: BSD-3-Clause
//
// Every bad descriptor gets an error completion and a counter, and harms nobody.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <random>

namespace {

unet_desc good(uint16_t channel)
{
    unet_desc desc = {};

    desc.channel = channel;
    desc.kind = UNET_PIECES;
    desc.pieces = 2;
    desc.length = 150;
    desc.user = 0xfeed;
    desc.piece[0] = {0, 100};
    desc.piece[1] = {4096, 50};
    return desc;
}

// Sends it and checks everything that a refusal has to be.
void check_refused(Pair &pair, const unet_desc &desc, uint32_t error)
{
    uint32_t ticket;

    REQUIRE(unet_push(pair.a, &desc, &ticket) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == error);
    CHECK(refused.channel == desc.channel);
    CHECK(refused.user == desc.user);
    CHECK(refused.length == desc.length);
    CHECK(unet_sent(pair.a, ticket));
    CHECK(pair.a->stats.bad_descriptors == 1);
    CHECK(take(pair.b).kind == UNET_EMPTY);
}

// What came through is whole and in its place.
void check_sound(const Message &m, uint16_t channel, uint32_t segment)
{
    REQUIRE((m.kind == UNET_INLINE || m.kind == UNET_PIECES || m.kind == UNET_DIRECT));
    REQUIRE(m.channel == channel);
    REQUIRE(m.bytes.size() == m.length);
    for (const unet_piece &p : m.pieces)
        REQUIRE(uint64_t(p.offset) + p.length <= segment);
}

} // namespace

TEST_CASE("each wrong field of a descriptor is refused with its own error", "[direct]")
{
    Pair pair;
    uint32_t segment = pair.a->config.segment_bytes;
    unet_desc desc = good(pair.ab);
    uint32_t error = EINVAL;

    give_buffers(pair.b, 4, 4096);
    SECTION("kind empty")
    {
        desc.kind = UNET_EMPTY;
    }
    SECTION("kind error")
    {
        desc.kind = UNET_ERROR;
    }
    SECTION("kind unknown")
    {
        desc.kind = 200;
    }
    SECTION("no pieces")
    {
        desc.pieces = 0;
    }
    SECTION("too many pieces")
    {
        desc.pieces = UNET_PIECES_MAX + 1;
    }
    SECTION("very many pieces")
    {
        desc.pieces = 255;
    }
    SECTION("length short of the sum")
    {
        desc.length = 149;
    }
    SECTION("length beyond the sum")
    {
        desc.length = 151;
    }
    SECTION("nothing to send")
    {
        desc.length = 0;
        desc.piece[0].length = desc.piece[1].length = 0;
    }
    SECTION("sum wraps around 32 bits")
    {
        desc.piece[0] = {0, 0x80000000u};
        desc.piece[1] = {0, 0x80000000u + 150};
        error = EFAULT;
    }
    SECTION("piece begins behind the segment")
    {
        desc.piece[1].offset = segment + 1;
        error = EFAULT;
    }
    SECTION("piece ends behind the segment")
    {
        desc.piece[1].offset = segment - 49;
        error = EFAULT;
    }
    SECTION("piece wraps around 32 bits")
    {
        desc.piece[1].offset = UINT32_MAX - 10;
        error = EFAULT;
    }
    SECTION("message too long")
    {
        desc.piece[0].length = UNET_MESSAGE_MAX;
        desc.length = UNET_MESSAGE_MAX + 50;
        error = EMSGSIZE;
    }
    SECTION("inline too long")
    {
        desc.kind = UNET_INLINE;
        desc.length = UNET_INLINE_MAX + 1;
        error = EMSGSIZE;
    }
    SECTION("direct, beyond the peer's segment")
    {
        desc.kind = UNET_DIRECT;
        desc.remote = segment;
        error = EFAULT;
    }
    SECTION("channel zero")
    {
        desc.channel = 0;
        error = ENOTCONN;
    }
    SECTION("channel never opened")
    {
        desc.channel = static_cast<uint16_t>(pair.ab + 1);
        error = ENOTCONN;
    }
    SECTION("channel out of range")
    {
        desc.channel = 65535;
        error = ENOTCONN;
    }
    check_refused(pair, desc, error);
}

TEST_CASE("the descriptor that the bad ones were made from is good")
{
    Pair pair;
    unet_desc desc = good(pair.ab);

    give_buffers(pair.b, 4, 4096);
    REQUIRE(unet_push(pair.a, &desc, nullptr) == 0);
    CHECK(await(pair.b).length == 150);
    CHECK(pair.a->stats.bad_descriptors == 0);
}

TEST_CASE("a bad descriptor does not stop the good ones around it")
{
    Pair pair;
    unet_desc bad = good(pair.ab);

    bad.kind = 99;
    for (uint32_t i = 0; i < 30; i++) {
        bad.user = i;
        REQUIRE(unet_push(pair.a, &bad, nullptr) == 0);
        REQUIRE(send_text(pair.a, pair.ab, "good", i) == 0);
    }
    for (uint32_t i = 0; i < 30; i++) {
        CHECK(await(pair.b).user == i);
        CHECK(await(pair.a).user == i);
    }
}

TEST_CASE("completions that find no slot are counted")
{
    unet_config config = {};
    config.send_slots = 4;
    Pair pair(config);
    unet_desc bad = good(0);

    for (int i = 0; i < 100; i++) {
        REQUIRE(unet_push(pair.a, &bad, nullptr) == 0);
        settle_sends(pair.a);
    }
    uint64_t completions = 0;
    while (take(pair.a).kind == UNET_ERROR)
        completions++;
    CHECK(pair.a->stats.bad_descriptors == 100);
    CHECK(completions + pair.a->stats.errors_lost == 100);
    CHECK(completions >= 4);
}

TEST_CASE("counts of pieces out of range are refused at the call", "[direct]")
{
    Pair pair;
    unet_piece piece[8] = {};

    CHECK(unet_send(pair.a, pair.ab, 0, piece, 0, nullptr) == -EINVAL);
    CHECK(unet_send(pair.a, pair.ab, 0, piece, UNET_PIECES_MAX + 1, nullptr) == -EINVAL);
    CHECK(unet_send_direct(pair.a, pair.ab, 0, piece, 257, 0, nullptr) == -EINVAL);
}

TEST_CASE("sends on channels that are not there are refused at the call", "[direct]")
{
    Pair pair;
    unet_piece piece = {0, 10};
    uint16_t none = GENERATE_COPY(uint16_t(0), uint16_t(63), uint16_t(65), uint16_t(65535));

    CHECK(send_text(pair.a, none, "x") == -ENOTCONN);
    CHECK(unet_send(pair.a, none, 0, &piece, 1, nullptr) == -ENOTCONN);
    CHECK(unet_send_direct(pair.a, none, 0, &piece, 1, 0, nullptr) == -ENOTCONN);
}

TEST_CASE("random descriptors never harm anyone")
{
    unet_config config = {};
    config.segment_bytes = 65536;
    Pair pair(config);
    uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
    std::mt19937 random(seed);
    uint64_t refused = 0, arrived = 0, pushed = 0;

    const auto take_all = [&] {
        for (Message m; (m = take(pair.a)).kind != UNET_EMPTY; refused++)
            REQUIRE(m.kind == UNET_ERROR);
        for (Message m; (m = take(pair.b, 4096)).kind != UNET_EMPTY; arrived++)
            check_sound(m, pair.ba, config.segment_bytes);
    };

    const auto all_told = [&] {
        take_all();
        return pushed == arrived + refused + pair.b->stats.overruns;
    };

    CAPTURE(seed);
    give_buffers(pair.b, 16, 4096);
    for (int i = 0; i < 20000; i++) {
        unet_desc desc = good(pair.ab);
        auto *raw = reinterpret_cast<uint8_t *>(&desc);

        if (random() % 4 == 0) {
            for (size_t k = 0; k < sizeof desc; k++)
                raw[k] = static_cast<uint8_t>(random());
        }
        for (uint32_t flips = random() % 4; flips > 0; flips--)
            raw[random() % sizeof desc] = static_cast<uint8_t>(random());
        pushed += unet_push(pair.a, &desc, nullptr) == 0;
        settle_sends(pair.a);
        take_all();
        if (i % 100 == 0) // no more at once than what lies between may hold
            soon(all_told);
    }
    eventually(all_told);
    CHECK(pushed == arrived + refused + pair.b->stats.overruns);
    CHECK(refused == pair.a->stats.bad_descriptors);
    CHECK(refused > 1000);
    CHECK(arrived > 1000);
    CHECK(pair.b->stats.malformed + pair.b->stats.foreign == 0);
}
