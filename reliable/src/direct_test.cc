// SPDX-License-Identifier: BSD-3-Clause
//
// direct_test.cc - direct access through an endpoint below that has ranges: the loopback, to which
// the test adds those of the kernel module.  What is put there is written down, not sent.
#include <catch2/catch.hpp>

#include <cerrno>
#include <string>
#include <vector>

extern "C" {
#include "src/endpoint.h"
}

namespace {

constexpr uint32_t RANKS = 3; // of which rank 1 has a channel, and rank 2 has not
constexpr uint64_t RKEY = 77;
constexpr uint64_t ALL = 1ull << 48;

// What the endpoint below was asked for.
struct Below {
    std::vector<uint64_t> exports; // bytes
    std::vector<std::string> calls;
    std::vector<unet_desc> puts;
    int exporting = 0, holding = 0, granting = 0, revoking = 0; // what these calls return
    uint64_t space = ALL;                                       // exports beyond are -EINVAL
    uint16_t range = 1;
    bool serves = true;
    bool locked = true; // whenever it was asked
    reliable_endpoint *r = nullptr;
    const unet_ops *loopback = nullptr;
};

Below *below;

bool is_locked(reliable_endpoint *r)
{
    if (pthread_mutex_trylock(&r->lock) != 0)
        return true;
    pthread_mutex_unlock(&r->lock);
    return false;
}

void look_at_lock()
{
    below->locked = below->locked && is_locked(below->r);
}

void say(const char *what, uint64_t place, uint64_t length)
{
    look_at_lock();
    below->calls.push_back(what + (" " + std::to_string(place >> 48)) + " " +
                           std::to_string(place & UNET_PLACE_OFFSET) + " " +
                           std::to_string(length));
}

int export_range(unet_endpoint *, void *address, uint64_t bytes, uint16_t *range)
{
    CHECK(address == nullptr);
    look_at_lock();
    below->exports.push_back(bytes);
    *range = below->range;
    return bytes > below->space ? -EINVAL : below->exporting;
}

int end_range(unet_endpoint *, uint16_t)
{
    return -EINVAL;
}

int hold(unet_endpoint *, uint64_t place, uint64_t length)
{
    say("hold", place, length);
    return below->holding;
}

void release(unet_endpoint *, uint64_t place, uint64_t length)
{
    say("release", place, length);
}

int grant(unet_endpoint *, uint16_t channel, uint64_t place, uint64_t length, uint64_t *key)
{
    say(channel == 1 ? "grant" : "grant to another", place, length);
    *key = RKEY;
    return below->granting;
}

int revoke(unet_endpoint *, uint64_t key)
{
    say("revoke", 0, key);
    return below->revoking;
}

const unet_range_ops ranges = {export_range, end_range, hold, release, grant, revoke};

// Takes puts out of the send queue.
void kick(unet_endpoint *ep, uint16_t channel)
{
    unet_ring &tx = unet_ni_of(ep)->tx;

    look_at_lock();
    while (const unet_desc *desc = below->serves ? unet_ring_peek(&tx) : nullptr) {
        CHECK(desc->kind == UNET_DIRECT);
        CHECK(channel == desc->channel);
        below->puts.push_back(*desc);
        unet_ring_release(&tx);
    }
    unet_ring_publish(&tx);
}

struct Direct : Below {
    unet_endpoint *lower = nullptr, *there = nullptr, *ep = nullptr;
    unet_ops ops = {};
    uint16_t channel = 0;

    explicit Direct(bool with_ranges = true)
    {
        const reliable_config config = {RANKS, 0, {1, 2}, 1000, RELIABLE_AUTH_FULL, 0, 0};
        unet_config sizes = {};

        below = this;
        reliable_lower_config(RANKS, &sizes);
        sizes.send_slots = 64;
        REQUIRE(unet_open(unet_backend("loopback"), &sizes, &lower) == 0);
        REQUIRE(unet_open(unet_backend("loopback"), &sizes, &there) == 0);
        if (with_ranges) {
            ops = *lower->ops;
            loopback = lower->ops;
            ops.ranges = &ranges;
            lower->ops = &ops;
            lower->capabilities |= UNET_CAP_RANGES;
        }
        REQUIRE(reliable_open(lower, &config, nullptr, &ep) == 0);
        r = reliable_of(ep);
        connect();
        ops.kick = kick;
    }
    ~Direct()
    {
        if (loopback)
            lower->ops = loopback;
        unet_close(ep);
        unet_close(there);
    }
    Direct(const Direct &) = delete;
    Direct &operator=(const Direct &) = delete;

    bool unlocked() const { return !is_locked(r); }
    size_t open() const
    {
        REQUIRE(reliable_direct_open(ep) == 0);
        return reliable_direct_most(ep);
    }

private:
    void connect()
    {
        struct unet_address address;
        uint16_t back;

        unet_address(there, &address);
        REQUIRE(reliable_address(&address, 1, &address) == 0);
        REQUIRE(unet_connect(ep, &address, 1, &channel) == 0);
        unet_address(lower, &address);
        REQUIRE(unet_connect(there, &address, 1, &back) == 0);
        for (int i = 0; i < 100 && unet_channel_state(ep, channel) != UNET_OPEN; i++)
            unet_channel_state(there, back);
        REQUIRE(unet_channel_state(ep, channel) == UNET_OPEN);
    }
};

// An address of that number.
uint8_t *at(uint64_t number)
{
    return reinterpret_cast<uint8_t *>(static_cast<uintptr_t>(number)); // NOLINT
}

using Calls = std::vector<std::string>;

} // namespace

TEST_CASE("there is no direct access without ranges below, or before it is open")
{
    const bool with_ranges = GENERATE(false, true);
    Direct direct(with_ranges);
    uint64_t rkey = 5;

    if (!with_ranges)
        CHECK(reliable_direct_open(direct.ep) == -EOPNOTSUPP);
    CHECK(reliable_direct_most(direct.ep) == 0);
    CHECK(reliable_direct_pin(direct.ep, at(64), 64) == -EOPNOTSUPP);
    reliable_direct_unpin(direct.ep, at(64), 64);
    CHECK(reliable_direct_grant(direct.ep, 1, at(64), 64, &rkey) == -EOPNOTSUPP);
    CHECK(reliable_direct_revoke(direct.ep, at(64), 64, rkey) == -EOPNOTSUPP);
    CHECK(reliable_direct_put(direct.ep, 1, rkey, at(64), at(64), 64) == -EOPNOTSUPP);
    CHECK(rkey == 5);
    CHECK(direct.calls.empty());
    CHECK(direct.exports.empty());
}

TEST_CASE("all of the address space is exported, once")
{
    Direct direct;

    CHECK(direct.open() == ((direct.lower->packet_bytes - 16) & ~63u));
    CHECK(direct.exports == std::vector<uint64_t>{ALL - 65536});
    CHECK(direct.unlocked());
    CHECK(reliable_direct_open(direct.ep) == 0);
    CHECK(direct.exports.size() == 1);
    CHECK(direct.locked);
}

TEST_CASE("as much of the address space is exported as the kernel gives, down to 256 GiB")
{
    Direct direct;

    direct.space = (1ull << 38) - 65536;
    direct.open();
    CHECK(direct.exports.size() == 11);
    CHECK(direct.exports.back() == (1ull << 38) - 65536);
}

TEST_CASE("what cannot be exported leaves direct access closed")
{
    Direct direct;
    int error = -EINVAL;

    SECTION("too little of the address space")
    {
        direct.space = 1 << 30;
    }
    SECTION("no memory")
    {
        direct.exporting = error = -ENOMEM;
    }
    SECTION("others have exported before")
    {
        direct.range = 2;
    }
    CHECK(reliable_direct_open(direct.ep) == error);
    CHECK(reliable_direct_most(direct.ep) == 0);
    CHECK(direct.unlocked());
    CHECK(direct.exports.size() == (direct.space == ALL ? 1 : 11));
}

TEST_CASE("memory is pinned and unpinned by its place")
{
    Direct direct;

    direct.open();
    CHECK(reliable_direct_pin(direct.ep, at(4096), 100) == 0);
    CHECK(direct.unlocked());
    reliable_direct_unpin(direct.ep, at(4096), 100);
    CHECK(direct.unlocked());
    CHECK(reliable_direct_pin(direct.ep, at(ALL - 1), 1) == 0);
    CHECK(direct.calls == Calls{"hold 1 4096 100", "release 1 4096 100",
                                "hold 1 " + std::to_string(ALL - 1) + " 1"});
    direct.holding = -EFAULT;
    CHECK(reliable_direct_pin(direct.ep, at(4096), 100) == -EFAULT);
    CHECK(direct.locked);
}

TEST_CASE("what lies beyond 48 bits has no place")
{
    Direct direct;
    uint64_t rkey = 5;

    direct.open();
    CHECK(reliable_direct_pin(direct.ep, at(ALL), 1) == -EINVAL);
    reliable_direct_unpin(direct.ep, at(ALL), 1);
    CHECK(reliable_direct_grant(direct.ep, 1, at(ALL), 1, &rkey) == -EINVAL);
    CHECK(reliable_direct_put(direct.ep, 1, RKEY, at(ALL), at(64), 1) == -EINVAL);
    CHECK(reliable_direct_put(direct.ep, 1, RKEY, at(64), at(ALL), 1) == -EINVAL);
    CHECK(rkey == 5);
    CHECK(direct.calls.empty());
    CHECK(direct.puts.empty());
}

TEST_CASE("who is granted memory has it pinned until the key is revoked")
{
    Direct direct;
    uint64_t rkey = 0;

    direct.open();
    REQUIRE(reliable_direct_grant(direct.ep, 1, at(4096), 100, &rkey) == 0);
    CHECK(rkey == RKEY);
    CHECK(direct.unlocked());
    CHECK(direct.calls == Calls{"hold 1 4096 100", "grant 1 4096 100"});
    direct.revoking = -EINVAL; // keeps it pinned
    CHECK(reliable_direct_revoke(direct.ep, at(4096), 100, RKEY) == -EINVAL);
    direct.revoking = 0;
    CHECK(reliable_direct_revoke(direct.ep, at(4096), 100, RKEY) == 0);
    CHECK(direct.unlocked());
    CHECK(direct.calls == Calls{"hold 1 4096 100", "grant 1 4096 100", "revoke 0 0 77",
                                "revoke 0 0 77", "release 1 4096 100"});
    CHECK(direct.locked);
}

TEST_CASE("what cannot be granted does not stay pinned")
{
    Direct direct;
    uint64_t rkey = 0;

    direct.open();
    direct.granting = -ENOSPC;
    CHECK(reliable_direct_grant(direct.ep, 1, at(4096), 100, &rkey) == -ENOSPC);
    CHECK(direct.calls == Calls{"hold 1 4096 100", "grant 1 4096 100", "release 1 4096 100"});
    direct.calls.clear();
    direct.holding = -EFAULT;
    CHECK(reliable_direct_grant(direct.ep, 1, at(4096), 100, &rkey) == -EFAULT);
    CHECK(direct.calls == Calls{"hold 1 4096 100"});
}

TEST_CASE("ranks without a channel are granted and sent nothing")
{
    const uint32_t rank = GENERATE(0u, 2u, RANKS, ~0u);
    Direct direct;
    uint64_t rkey = 0;

    direct.open();
    CHECK(reliable_direct_grant(direct.ep, rank, at(4096), 100, &rkey) == -EINVAL);
    CHECK(reliable_direct_put(direct.ep, rank, RKEY, at(64), at(64), 1) == -EINVAL);
    CHECK(direct.calls.empty());
    CHECK(direct.puts.empty());
}

TEST_CASE("a put goes in pieces, each to its place")
{
    Direct direct;
    const size_t most = direct.open();
    const auto put = [&](size_t n) {
        return reliable_direct_put(direct.ep, 1, RKEY, at(1 << 20), at(1 << 30), n);
    };
    const size_t bytes = GENERATE_COPY(size_t{1}, most - 1, most, most + 1, 3 * most, 16 * most);

    REQUIRE(put(bytes) == 0);
    CHECK(direct.unlocked());
    REQUIRE(direct.puts.size() == (bytes + most - 1) / most);
    for (size_t i = 0; i < direct.puts.size(); i++) {
        const unet_desc &desc = direct.puts[i];

        CHECK(desc.channel == direct.channel);
        CHECK(desc.grant == RKEY);
        CHECK(desc.local == UNET_PLACE(1, (1 << 20) + i * most));
        CHECK(desc.remote == UNET_PLACE(1, (1 << 30) + i * most));
        CHECK(desc.length == std::min(most, bytes - i * most));
    }
    CHECK(direct.locked);
}

TEST_CASE("a put is of one byte to sixteen pieces")
{
    Direct direct;
    const size_t most = direct.open();

    CHECK(reliable_direct_put(direct.ep, 1, RKEY, at(64), at(64), 0) == -EINVAL);
    CHECK(reliable_direct_put(direct.ep, 1, RKEY, at(64), at(64), 16 * most + 1) == -EINVAL);
    CHECK(direct.puts.empty());
    CHECK(direct.unlocked());
}

TEST_CASE("a put goes whole or not at all, and leaves 32 slots for packets")
{
    Direct direct;
    const size_t most = direct.open();
    const auto put = [&](size_t pieces) {
        return reliable_direct_put(direct.ep, 1, RKEY, at(64), at(64), pieces * most);
    };

    direct.serves = false;
    REQUIRE(direct.lower->config.send_slots == 64);
    CHECK(put(15) == 0);
    CHECK(put(16) == 0);
    CHECK(put(2) == -EAGAIN); // there is room for one
    CHECK(put(1) == 0);
    CHECK(put(1) == -EAGAIN);
    CHECK(direct.unlocked());
    direct.serves = true;
    kick(direct.lower, direct.channel);
    CHECK(direct.puts.size() == 32);
    CHECK(put(16) == 0);
}

TEST_CASE("a put to who died fails at its first piece")
{
    Direct direct;
    const size_t most = direct.open();

    direct.lower->channel[direct.channel].state = UNET_DEAD;
    CHECK(reliable_direct_put(direct.ep, 1, RKEY, at(64), at(64), 3 * most) == -EPIPE);
    CHECK(direct.puts.empty());
    direct.lower->channel[direct.channel].state = UNET_OPEN;
}

TEST_CASE("the code of memory depends on its bytes, their number, and the key")
{
    Direct direct;
    uint8_t bytes[100] = {};
    const uint64_t code = reliable_direct_mac(direct.ep, 1, bytes, 100);

    CHECK(reliable_direct_mac(direct.ep, 1, bytes, 100) == code);
    CHECK(reliable_direct_mac(direct.ep, 2, bytes, 100) != code);
    CHECK(reliable_direct_mac(direct.ep, 1, bytes, 99) != code);
    bytes[99] = 1;
    CHECK(reliable_direct_mac(direct.ep, 1, bytes, 100) != code);
}
