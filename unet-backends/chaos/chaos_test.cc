// SPDX-License-Identifier: BSD-3-Clause
//
// The bad network does to messages what it is told to, and nothing else.
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <unet/unet_chaos.h>
#include <vector>

namespace {

constexpr uint32_t MESSAGES = 4000;

// Endpoint a sends through the bad network to b.
struct Pair {
    explicit Pair(const unet_chaos &chaos)
    {
        struct unet_address to_a, to_b;
        const unet_ops *loopback = unet_backend("loopback");

        REQUIRE(unet_chaos_open(loopback, &chaos, nullptr, &a) == 0);
        REQUIRE(unet_open(loopback, nullptr, &b) == 0);
        unet_address(a, &to_a);
        unet_address(b, &to_b);
        REQUIRE(unet_connect(a, &to_b, 1, &ab) == 0);
        REQUIRE(unet_connect(b, &to_a, 1, &ba) == 0);
        REQUIRE(unet_channel_state(a, ab) == UNET_OPEN);
        REQUIRE(unet_channel_state(b, ba) == UNET_OPEN);
        for (uint32_t i = 0; i < 64; i++)
            REQUIRE(unet_free_put(b, i * 2048, 2048) == 0);
    }
    ~Pair()
    {
        unet_close(a);
        unet_close(b);
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    unet_endpoint *a = nullptr, *b = nullptr;
    uint16_t ab = 0, ba = 0;
};

struct Arrivals {
    std::vector<uint32_t> order; // the messages' numbers
    uint32_t shorter = 0, altered = 0;
};

void take_all(unet_endpoint *ep, uint32_t length, Arrivals &seen)
{
    while (const unet_desc *desc = unet_rx_peek(ep)) {
        const bool inlined = desc->kind == UNET_INLINE;
        const uint8_t *bytes = inlined ? desc->data : ep->segment + desc->piece[0].offset;

        seen.order.push_back(desc->user);
        seen.shorter += desc->length < length;
        for (uint32_t i = 0; i < desc->length; i++)
            seen.altered += bytes[i] != static_cast<uint8_t>(desc->user + i);
        if (!inlined)
            REQUIRE(unet_free_put(ep, desc->piece[0].offset, 2048) == 0);
        unet_rx_release(ep);
    }
}

Arrivals send_many(const unet_chaos &chaos, uint32_t length)
{
    Pair pair(chaos);
    Arrivals seen;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        const uint32_t half = length / 2;
        const unet_piece piece[] = {{8192, half}, {300, length - half}};
        uint8_t text[UNET_INLINE_MAX];

        for (uint32_t k = 0; k < length; k++) {
            const uint32_t place = k < half ? 8192 + k : 300 + k - half;

            (length <= UNET_INLINE_MAX ? text[k] : pair.a->segment[place]) =
                static_cast<uint8_t>(i + k);
        }
        if (length <= UNET_INLINE_MAX)
            REQUIRE(unet_send_inline(pair.a, pair.ab, i, text, length) == 0);
        else
            REQUIRE(unet_send(pair.a, pair.ab, i, piece, 2, nullptr) == 0);
        take_all(pair.b, length, seen);
    }
    for (int i = 0; i < 20; i++)
        unet_progress(pair.a);
    take_all(pair.b, length, seen);
    return seen;
}

uint32_t overtaken(const std::vector<uint32_t> &order)
{
    uint32_t count = 0;

    for (size_t i = 1; i < order.size(); i++)
        count += order[i] < order[i - 1];
    return count;
}

} // namespace

TEST_CASE("without faults everything arrives as it was sent")
{
    const Arrivals seen = send_many({}, GENERATE(0u, 40u, 1000u));

    CHECK(seen.order.size() == MESSAGES);
    CHECK(overtaken(seen.order) == 0);
    CHECK(seen.shorter + seen.altered == 0);
}

TEST_CASE("each fault happens about as often as it is told to, and alone")
{
    const uint32_t length = GENERATE(40u, 1000u);
    unet_chaos chaos = {};
    Arrivals seen;

    chaos.seed = 5;
    SECTION("loss")
    {
        chaos.loss = 0.25;
        seen = send_many(chaos, length);
        CHECK(seen.order.size() > MESSAGES * 0.70);
        CHECK(seen.order.size() < MESSAGES * 0.80);
        CHECK(overtaken(seen.order) + seen.shorter + seen.altered == 0);
    }
    SECTION("duplicates")
    {
        chaos.duplicate = 0.25;
        seen = send_many(chaos, length);
        CHECK(seen.order.size() > MESSAGES * 1.20);
        CHECK(seen.order.size() < MESSAGES * 1.30);
        CHECK(overtaken(seen.order) + seen.shorter + seen.altered == 0);
    }
    SECTION("reordering")
    {
        chaos.reorder = 0.25;
        seen = send_many(chaos, length);
        CHECK(seen.order.size() == MESSAGES);
        CHECK(overtaken(seen.order) > MESSAGES * 0.1);
        CHECK(seen.shorter + seen.altered == 0);
    }
    SECTION("truncation")
    {
        chaos.truncate = 0.25;
        seen = send_many(chaos, length);
        CHECK(seen.order.size() == MESSAGES);
        CHECK(seen.shorter > MESSAGES * 0.2);
        CHECK(seen.shorter < MESSAGES * 0.3);
        CHECK(overtaken(seen.order) + seen.altered == 0);
    }
    SECTION("flipped bits")
    {
        chaos.flip = 0.25;
        seen = send_many(chaos, length);
        CHECK(seen.order.size() == MESSAGES);
        CHECK(seen.altered > MESSAGES * 0.2);
        CHECK(seen.altered < MESSAGES * 0.3);
        CHECK(overtaken(seen.order) + seen.shorter == 0);
    }
}

TEST_CASE("the same seed gives the same faults, another one others")
{
    unet_chaos chaos = {0.1, 0.1, 0.1, 0, 0, 7};
    const std::vector<uint32_t> first = send_many(chaos, 40).order;

    CHECK(send_many(chaos, 40).order == first);
    chaos.seed++;
    CHECK(send_many(chaos, 40).order != first);
}

TEST_CASE("it says that it is neither reliable nor ordered")
{
    Pair pair({});

    CHECK((pair.a->capabilities & (UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_DIRECT)) == 0);
    CHECK(pair.a->packet_bytes < UNET_MESSAGE_MAX);
}

TEST_CASE("a wait lets go what is held back, and ends when the peer does")
{
    unet_chaos chaos = {};

    chaos.reorder = 1;
    Pair pair(chaos);
    REQUIRE(unet_send_inline(pair.a, pair.ab, 7, nullptr, 0) == 0);
    CHECK(unet_rx_peek(pair.b) == nullptr);
    for (int i = 0; i < 100 && !unet_rx_peek(pair.b); i++) // a busy machine sleeps longer
        CHECK(unet_wait(pair.a, 100) == 0);
    REQUIRE(unet_wait(pair.b, 1000) == 1);
    CHECK(unet_rx_peek(pair.b)->user == 7);
    unet_close(pair.b);
    pair.b = nullptr;
    CHECK(unet_wait(pair.a, -1) == 0);
    CHECK(unet_channel_state(pair.a, pair.ab) == UNET_DEAD);
}

TEST_CASE("a bad descriptor is answered with its error")
{
    Pair pair({});
    unet_piece outside = {pair.a->config.segment_bytes, 1};

    REQUIRE(unet_send(pair.a, pair.ab, 3, &outside, 1, nullptr) == 0);
    const unet_desc *desc = unet_rx_peek(pair.a);
    REQUIRE(desc != nullptr);
    CHECK(desc->kind == UNET_ERROR);
    CHECK(desc->error == EFAULT);
    CHECK(desc->user == 3);
}

// ---- as a user writes it --------------------------------------------------------------

TEST_CASE("faults are read in any order")
{
    unet_chaos chaos = {};

    REQUIRE(unet_chaos_parse("seed=7,loss=0.05,flip=0.001,dup=0.02,truncate=1,reorder=0.1",
                             &chaos) == 0);
    CHECK(chaos.seed == 7);
    CHECK(chaos.loss == 0.05);
    CHECK(chaos.flip == 0.001);
    CHECK(chaos.duplicate == 0.02);
    CHECK(chaos.truncate == 1);
    CHECK(chaos.reorder == 0.1);
}

TEST_CASE("what is not a list of faults is refused")
{
    const char *text =
        GENERATE(as<const char *>{}, "", "loss", "loss=", "loss=x", "loss=1.5", "loss=-1",
                 "loss=nan", "loss=0.1,", ",loss=0.1", "loss=0.1;", "loss=0.1,loss=0.2", "seed=-1",
                 "seed=99999999999999999999999", "delay=1", "loss =0.1");
    unet_chaos chaos = {0.5, 0, 0, 0, 0, 0};

    INFO("text '" << text << "'");
    CHECK(unet_chaos_parse(text, &chaos) == -EINVAL);
    CHECK(chaos.loss == 0.5);
}

TEST_CASE("probabilities that are none are refused")
{
    unet_chaos chaos = {};
    unet_endpoint *ep = nullptr;

    chaos.flip = 1.01;
    CHECK(unet_chaos_open(unet_backend("loopback"), &chaos, nullptr, &ep) == -EINVAL);
    CHECK(ep == nullptr);
}
