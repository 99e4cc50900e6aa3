// SPDX-License-Identifier: BSD-3-Clause
//
// Channels: both sides have to open, either may end.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

TEST_CASE("nothing is sent before both sides have opened")
{
    Endpoint a, b;
    struct unet_address to_a = a.address(), to_b = b.address();
    unet_piece piece = {0, 10};
    uint16_t ab, ba;

    REQUIRE(unet_connect(a, &to_b, 1, &ab) == 0);
    CHECK(unet_channel_state(a, ab) == UNET_CONNECTING);
    CHECK(send_text(a, ab, "early") == -EAGAIN);
    CHECK(unet_inline_begin(a, ab) == nullptr);
    CHECK(unet_send(a, ab, 0, &piece, 1, nullptr) == -EAGAIN);
    REQUIRE(unet_connect(b, &to_a, 1, &ba) == 0);
    REQUIRE(eventually(
        [&] { return unet_progress(a), unet_progress(b), send_text(a, ab, "late") == 0; }));
    CHECK(text(await(b)) == "late");
    CHECK(soon([&] { return unet_channel_state(b, ba) == UNET_OPEN; }));
}

TEST_CASE("a raw descriptor on a connecting channel is refused")
{
    Endpoint a, b;
    struct unet_address to_a = a.address(), to_b = b.address();
    unet_desc desc = {};
    uint16_t ab, ba;

    REQUIRE(unet_connect(a, &to_b, 1, &ab) == 0);
    desc.channel = ab;
    desc.kind = UNET_INLINE;
    REQUIRE(unet_push(a, &desc, nullptr) == 0);
    CHECK(await(a).error == ENOTCONN);
    // It opens all the same; and libfabric does not free a connection that is half-made.
    REQUIRE(unet_connect(b, &to_a, 1, &ba) == 0);
    CHECK(eventually([&] {
        unet_progress(a);
        unet_progress(b);
        return unet_channel_state(a, ab) == UNET_OPEN && unet_channel_state(b, ba) == UNET_OPEN;
    }));
}

TEST_CASE("different tags never meet")
{
    Endpoint a, b;
    struct unet_address to_a = a.address(), to_b = b.address();
    uint16_t ab, ba;

    REQUIRE(unet_connect(a, &to_b, 1, &ab) == 0);
    REQUIRE(unet_connect(b, &to_a, 2, &ba) == 0);
    for (int i = 0; i < 3000; i++) {
        unet_progress(a);
        unet_progress(b);
    }
    CHECK(unet_channel_state(a, ab) == UNET_CONNECTING);
    CHECK(unet_channel_state(b, ba) == UNET_CONNECTING);
}

TEST_CASE("the right tag at the wrong endpoint does not meet either")
{
    Endpoint a, b, thief;
    struct unet_address to_a = a.address(), to_b = b.address();
    uint16_t ab, ba, ta;

    REQUIRE(unet_connect(a, &to_b, 1, &ab) == 0);
    REQUIRE(unet_connect(thief, &to_a, 1, &ta) == 0);
    CHECK(unet_channel_state(thief, ta) == UNET_CONNECTING);
    CHECK(unet_channel_state(a, ab) == UNET_CONNECTING);
    REQUIRE(unet_connect(b, &to_a, 1, &ba) == 0);
    CHECK(eventually([&] {
        unet_progress(a);
        unet_progress(thief);
        return unet_channel_state(b, ba) == UNET_OPEN;
    }));
    CHECK(unet_channel_state(thief, ta) == UNET_CONNECTING);
}

TEST_CASE("the same peer and tag cannot be opened twice")
{
    Pair pair;
    struct unet_address to_b = pair.b.address();
    uint16_t again = 4711;

    CHECK(unet_connect(pair.a, &to_b, 0x1234, &again) == -EEXIST);
    CHECK(again == 4711);
}

TEST_CASE("addresses that are none are told apart", "[shared]")
{
    Endpoint a;
    struct unet_address address = a.address();
    int expected = -EADDRNOTAVAIL;
    uint16_t channel;

    SECTION("empty")
    {
        address.length = 0;
    }
    SECTION("too short")
    {
        address.length--;
    }
    SECTION("too long")
    {
        address.length = UNET_ADDRESS_MAX;
    }
    SECTION("longer than any")
    {
        address.length = UINT32_MAX;
    }
    SECTION("of an endpoint that never was")
    {
        address.bytes[address.length - 1] ^= 0x40;
        expected = -EHOSTUNREACH;
    }
    CHECK(unet_connect(a, &address, 1, &channel) == expected);
}

TEST_CASE("the address of a closed endpoint is unreachable", "[shared]")
{
    Endpoint a, b;
    struct unet_address to_b = b.address();
    size_t before;
    uint16_t channel;

    b.close();
    before = open_descriptors();
    CHECK(unet_connect(a, &to_b, 1, &channel) == -EHOSTUNREACH);
    CHECK(open_descriptors() == before);
}

TEST_CASE("only so many channels can be open")
{
    unet_config config = {};
    config.channels = 3;
    Endpoint a(config), b;
    struct unet_address to_b = b.address();
    uint16_t channel[4];

    for (uint64_t tag = 0; tag < 3; tag++)
        REQUIRE(unet_connect(a, &to_b, tag, &channel[tag]) == 0);
    CHECK(unet_connect(a, &to_b, 3, &channel[3]) == -ENOSPC);
    REQUIRE(unet_disconnect(a, channel[1]) == 0);
    REQUIRE(unet_connect(a, &to_b, 3, &channel[3]) == 0);
    CHECK(channel[3] == channel[1]);
}

TEST_CASE("disconnecting what is not connected is an error")
{
    Pair pair;

    CHECK(unet_disconnect(pair.a, 0) == -EINVAL);
    CHECK(unet_disconnect(pair.a, static_cast<uint16_t>(pair.ab + 1)) == -EINVAL);
    CHECK(unet_disconnect(pair.a, 65535) == -EINVAL);
    CHECK(unet_disconnect(pair.a, pair.ab) == 0);
    CHECK(unet_disconnect(pair.a, pair.ab) == -EINVAL);
    CHECK(unet_channel_state(pair.a, pair.ab) == UNET_CLOSED);
    CHECK(send_text(pair.a, pair.ab, "x") == -ENOTCONN);
}

TEST_CASE("a peer that disconnects is dead to the other side, what it sent stays")
{
    Pair pair;

    for (uint32_t i = 0; i < 10; i++)
        REQUIRE(send_text(pair.a, pair.ab, "last words", i) == 0);
    REQUIRE(unet_disconnect(pair.a, pair.ab) == 0);
    CHECK(soon([&] { return unet_channel_state(pair.b, pair.ba) == UNET_DEAD; }));
    CHECK(send_text(pair.b, pair.ba, "x") == -EPIPE);
    CHECK(unet_inline_begin(pair.b, pair.ba) == nullptr);
    for (uint32_t i = 0; i < 10; i++)
        CHECK(await(pair.b).user == i);
    CHECK(take(pair.b).kind == UNET_EMPTY);
}

TEST_CASE("an endpoint that closes is dead to all its peers, who carry on")
{
    Endpoint a, b, c;
    uint16_t ab, ba, cb, bc;

    join(a, b, 1, ab, ba);
    join(c, b, 2, cb, bc);
    REQUIRE(send_text(a, ab, "in flight") == 0);
    a.close();
    CHECK(soon([&] { return unet_channel_state(b, ba) == UNET_DEAD; }));
    CHECK(text(await(b)) == "in flight");
    REQUIRE(send_text(c, cb, "alive") == 0);
    CHECK(text(await(b)) == "alive");
    CHECK(unet_channel_state(b, bc) == UNET_OPEN);
}

TEST_CASE("progress alone notices that a peer closed")
{
    Pair pair;

    pair.a.close();
    CHECK(eventually([&] {
        unet_progress(pair.b);
        return send_text(pair.b, pair.ba, "x") == -EPIPE;
    }));
}

TEST_CASE("closing drops what is in flight to the endpoint and completes the senders",
          "[reliable][lanes]")
{
    Pair pair;
    unet_piece piece = {0, 100};
    uint32_t ticket;

    REQUIRE(unet_send(pair.a, pair.ab, 5, &piece, 1, &ticket) == 0);
    CHECK_FALSE(unet_sent(pair.a, ticket));
    pair.b.close();
    CHECK(is_dead(pair.a, pair.ab));
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EPIPE);
    CHECK(refused.user == 5);
    CHECK(unet_sent(pair.a, ticket));
}

TEST_CASE("disconnecting completes queued sends and drops unread messages", "[reliable][lanes]")
{
    Pair pair;
    unet_piece piece = {0, 100};

    REQUIRE(send_text(pair.b, pair.ba, "unread") == 0);
    for (uint32_t i = 0; i < 5; i++)
        REQUIRE(unet_send(pair.a, pair.ab, i, &piece, 1, nullptr) == 0);
    REQUIRE(unet_disconnect(pair.a, pair.ab) == 0);
    for (uint32_t i = 0; i < 5; i++) {
        Message refused = await(pair.a);
        CHECK(refused.kind == UNET_ERROR);
        CHECK(refused.error == ENOTCONN);
        CHECK(refused.user == i);
    }
    CHECK(take(pair.a).kind == UNET_EMPTY);
}

TEST_CASE("a channel number is given again only when its past cannot come up", "[shared]")
{
    unet_config config = {};
    config.channels = 1;
    config.recv_slots = 8;
    Endpoint hub(config);
    uint16_t at_hub, number;

    for (int round = 0; round < 20; round++) {
        Endpoint first, second;

        join(hub, first, 1, at_hub, number);
        for (int i = 0; i < 5; i++)
            REQUIRE(send_text(first, number, "from the first") == 0);
        REQUIRE(unet_disconnect(hub, at_hub) == 0);
        // The first still holds its end of the ring and writes into it.
        struct unet_address to_second = second.address();
        CHECK(unet_connect(hub, &to_second, 2, &at_hub) == -ENOSPC);
        send_text(first, number, "too late");
        CHECK(is_dead(first, number));
        join(hub, second, 2, at_hub, number);
        CHECK(take(hub).kind == UNET_EMPTY);
        REQUIRE(send_text(second, number, "from the second") == 0);
        CHECK(text(await(hub)) == "from the second");
        REQUIRE(unet_disconnect(hub, at_hub) == 0);
    }
}

TEST_CASE("the same two endpoints can part and meet again")
{
    Pair pair;

    for (uint32_t i = 0; i < 50; i++) {
        REQUIRE(send_text(pair.a, pair.ab, "hello", i) == 0);
        CHECK(await(pair.b).user == i);
        REQUIRE(unet_disconnect(pair.a, pair.ab) == 0);
        REQUIRE(unet_disconnect(pair.b, pair.ba) == 0);
        join(pair.a, pair.b, 0x1234, pair.ab, pair.ba);
    }
}

TEST_CASE("a hundred channels of one endpoint all work", "[many]")
{
    unet_config config = {};
    config.channels = 100;
    Endpoint hub(config);
    std::vector<std::unique_ptr<Endpoint>> peers;
    std::vector<uint16_t> at_peer(100), at_hub(100);

    for (uint32_t i = 0; i < 100; i++) {
        peers.push_back(std::make_unique<Endpoint>());
        join(hub, *peers[i], i, at_hub[i], at_peer[i]);
    }
    for (uint32_t i = 0; i < 100; i++)
        REQUIRE(send_text(*peers[i], at_peer[i], "x", i) == 0);
    for (uint32_t i = 0; i < 100; i++) {
        Message m = await(hub);
        CHECK(m.channel == at_hub[m.user]);
    }
}
