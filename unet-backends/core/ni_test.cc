// SPDX-License-Identifier: BSD-3-Clause
//
// What endpoints of all kinds have in common, with a network interface that only writes down what
// it is asked for: how long it sleeps, whom it tells and asks, what it hands on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
#include "core/core.h"
}
#include <unet/unet_ni.h>
#include <unet/unet_rest.h>

namespace {

struct Record {
    std::vector<int> sleeps; // milliseconds
    std::vector<uint16_t> told;
    std::vector<std::string> calls;
    int looks = 0;
    int sleep_result = 0;
};

Record *record;

int record_sleep(unet_ni *, int ms)
{
    record->sleeps.push_back(ms);
    return record->sleeps.size() < 3 ? record->sleep_result : -EINTR;
}

void record_tell(unet_ni *, uint16_t channel)
{
    record->told.push_back(channel);
}

int note(const std::string &call)
{
    record->calls.push_back(call);
    return 0;
}

std::string words(uint64_t a, uint64_t b)
{
    return std::to_string(a) + " " + std::to_string(b);
}

const unet_range_ops ranges = {
    [](unet_endpoint *, void *, uint64_t bytes, uint16_t *range) {
        *range = 1;
        return note("export " + std::to_string(bytes));
    },
    [](unet_endpoint *, uint16_t range) { return note("end " + std::to_string(range)); },
    [](unet_endpoint *, uint64_t place, uint64_t n) { return note("hold " + words(place, n)); },
    [](unet_endpoint *, uint64_t place, uint64_t n) { note("release " + words(place, n)); },
    [](unet_endpoint *, uint16_t channel, uint64_t place, uint64_t n, uint64_t *grant) {
        *grant = 5;
        return note("grant " + std::to_string(channel) + " " + words(place, n));
    },
    [](unet_endpoint *, uint64_t grant) { return note("revoke " + std::to_string(grant)); },
};

// An endpoint whose network interface is the record.
struct Recorded : Record {
    unet_ops ops = {};
    unet_ni_kind kind = {};
    unet_ni *ni = nullptr;

    explicit Recorded(int retry_ms = 7, int look_ms = 13, uint32_t channels = 4)
    {
        unet_config config = {};

        record = this;
        ops.state = [](unet_endpoint *, uint16_t) { record->looks++; };
        ops.progress = [](unet_endpoint *) { return 0; };
        ops.kick = [](unet_endpoint *, uint16_t) { note("kick"); };
        kind.link_bytes = sizeof(unet_link);
        kind.memory = UNET_NI_ALL;
        kind.retry_ms = retry_ms;
        kind.look_ms = look_ms;
        kind.sleep = record_sleep;
        kind.tell = record_tell;
        config.channels = channels;
        REQUIRE(unet_config_complete(&config) == 0);
        REQUIRE(unet_ni_open(&ops, &kind, sizeof(unet_ni), &config, &ni) == 0);
    }
    ~Recorded() { unet_ni_close(ni); }
    Recorded(const Recorded &) = delete;
    Recorded &operator=(const Recorded &) = delete;

    unet_link &link(uint32_t n) const { return static_cast<unet_link *>(ni->link)[n]; }
    void open(uint16_t n) const
    {
        unet_ni_connecting(ni, n);
        unet_ni_set_state(ni, n, UNET_OPEN);
    }
    std::vector<uint16_t> ask() const
    {
        uint16_t asked[UNET_NI_ASK_MOST];
        const unsigned count = unet_ni_ask_some(ni, asked);

        return {asked, asked + count};
    }
};

using Channels = std::vector<uint16_t>;

} // namespace

TEST_CASE("ni: who sleeps looks at what is connecting more often than at what is open")
{
    Recorded r;

    r.open(1);
    CHECK(unet_ni_wait(&r.ni->ep, 100000) == -EINTR);
    CHECK(r.sleeps == std::vector<int>{13, 13, 13});
    CHECK(r.looks == 2); // after each sleep that ended by itself
    r.sleeps.clear();
    unet_ni_connecting(r.ni, 2);
    CHECK(unet_ni_wait(&r.ni->ep, 100000) == -EINTR);
    CHECK(r.sleeps == std::vector<int>{7, 7, 7});
    r.sleeps.clear();
    r.sleep_result = 1;
    r.looks = 0;
    CHECK(unet_ni_wait(&r.ni->ep, 5) == -EINTR); // which is less than either
    for (int ms : r.sleeps)
        CHECK(ms <= 5);
    CHECK(r.looks == 0);
}

TEST_CASE("ni: who has nothing to look at sleeps as long as it may")
{
    Recorded r(0, 0);

    r.open(1);
    CHECK(unet_ni_wait(&r.ni->ep, 100000) == -EINTR);
    CHECK(r.sleeps.at(0) > 99000);
    CHECK(r.sleeps.at(0) <= 100000);
    r.sleeps.clear();
    CHECK(unet_ni_wait(&r.ni->ep, -1) == -EINTR);
    CHECK(r.sleeps.at(0) == INT32_MAX);
}

TEST_CASE("ni: a wait ends when a channel opened or died, once")
{
    Recorded r;

    r.open(1);
    unet_ni_set_state(r.ni, 1, UNET_DEAD);
    CHECK(unet_ni_wait(&r.ni->ep, 100000) == 0);
    CHECK(r.sleeps.empty());
    CHECK(unet_ni_wait(&r.ni->ep, 100000) == -EINTR);
}

TEST_CASE("ni: channels are counted by their states")
{
    Recorded r;

    CHECK(unet_ni_closed_channel(r.ni) == 1);
    unet_ni_connecting(r.ni, 1);
    unet_ni_connecting(r.ni, 2);
    CHECK(r.ni->connecting == 2);
    CHECK(r.ni->ep.rx_rings == 3);
    unet_ni_set_state(r.ni, 1, UNET_OPEN);
    CHECK(r.ni->connecting == 1);
    CHECK(r.ni->ep.channel[1].ring == &r.ni->ep.tx);
    unet_ni_set_state(r.ni, 1, UNET_DEAD);
    CHECK(r.ni->ep.channel[1].ring == &unet_ring_full);
    CHECK(unet_ni_closed_channel(r.ni) == 3);
    unet_ni_connecting(r.ni, 3);
    unet_ni_connecting(r.ni, 4);
    CHECK(unet_ni_closed_channel(r.ni) == 0);
    unet_ni_set_state(r.ni, 2, UNET_CLOSED);
    CHECK(unet_ni_closed_channel(r.ni) == 2);
    CHECK((r.ni->opened == 1 && r.ni->died == 1));
}

TEST_CASE("peers: who connects is told at once, and again after pauses that double")
{
    Recorded r;
    uint32_t pause = 200;

    r.open(1);
    unet_ni_connecting(r.ni, 2);
    unet_ni_tell(r.ni);
    CHECK(r.told == Channels{2});
    for (size_t times = 2; times < 12; times++) {
        CHECK(r.link(2).pause_us == pause);
        r.link(2).told_us = unet_now_us() + 1000000; // as if told just now
        r.link(2).told_us -= 1000000;
        r.link(2).told_us -= pause;
        unet_ni_tell(r.ni);
        CHECK(r.told.size() == times);
        pause = pause < 50000 ? 2 * pause : pause;
    }
    CHECK(pause == 51200);
    unet_ni_tell(r.ni); // not yet
    CHECK(r.told.size() == 11);
}

TEST_CASE("peers: who was not heard of is asked, the others not")
{
    Recorded r;

    for (uint16_t n = 1; n <= 3; n++)
        r.open(n);
    unet_ni_connecting(r.ni, 4);
    r.link(2).heard = true;
    CHECK(r.ask() == Channels{1, 3});
    CHECK(r.told == Channels{1, 3});
    CHECK_FALSE(r.link(2).heard); // has to be heard of anew
    CHECK(r.ask().empty());       // nobody so soon
    r.ni->looked_us -= 20000;
    CHECK(r.ask().empty()); // each had its turn just now
    r.ni->looked_us -= 20000;
    r.link(3).told_us -= 20000;
    CHECK(r.ask() == Channels{3});
    r.link(1).told_us -= 20000;
    CHECK(unet_ni_ask(r.ni, 1));
    CHECK_FALSE(unet_ni_ask(r.ni, 1));
    CHECK_FALSE(unet_ni_ask(r.ni, 4)); // is not open
}

TEST_CASE("peers: of many channels 64 are asked in a turn, and each the less often")
{
    constexpr uint32_t many = 100;
    Recorded r(7, 13, many);

    for (uint16_t n = 1; n <= many; n++)
        r.open(n);
    CHECK(r.ask().size() == 64);
    r.ni->looked_us -= 20000;
    const Channels rest = r.ask();
    REQUIRE(rest.size() == many - 64);
    CHECK((rest.front() == 65 && rest.back() == many));
    for (uint32_t n = 1; n <= many; n++)
        r.link(n).told_us -= 90000; // of 101 that is their share
    r.ni->looked_us -= 200000;
    CHECK(r.ask().empty());
    for (uint32_t n = 1; n <= many; n++)
        r.link(n).told_us -= 11000;
    r.ni->looked_us -= 200000;
    CHECK(r.ask().size() == 64);
}

namespace {

// What the network interface puts into the ring of channel 1.
unet_desc arrival(unet_kind kind, uint32_t length, const std::vector<unet_piece> &pieces = {})
{
    unet_desc desc = {};

    desc.channel = 1;
    desc.kind = static_cast<uint8_t>(kind);
    desc.length = length;
    desc.pieces = static_cast<uint8_t>(pieces.size());
    for (size_t i = 0; i < pieces.size() && i < UNET_PIECES_MAX; i++)
        desc.piece[i] = pieces[i];
    return desc;
}

void arrives(const Recorded &r, const unet_desc &desc)
{
    unet_ring &in = r.ni->in[1];
    unet_desc *slot = unet_ring_reserve(&in);

    REQUIRE(slot != nullptr);
    memcpy(&slot->channel, &desc.channel, sizeof(desc) - offsetof(unet_desc, channel));
    unet_ring_submit(&in);
    unet_rx_mark_filled(&r.ni->ep, 1);
}

constexpr uint32_t FEW = 4, MANY = 200; // channels: of many it is said which have something

// A number into a channel's ring.  False: it is full.
bool number_arrives(const Recorded &r, uint16_t channel, uint32_t number)
{
    unet_ring &in = r.ni->in[channel];
    unet_desc *slot = unet_ring_reserve(&in);

    if (!slot)
        return false;
    slot->channel = channel;
    slot->kind = UNET_INLINE;
    slot->pieces = 0;
    slot->length = 0;
    slot->user = number;
    unet_ring_submit(&in);
    unet_rx_mark_filled(&r.ni->ep, channel);
    return true;
}

// The numbers of each channel, which come in order.
struct Numbers {
    std::vector<uint32_t> sent = std::vector<uint32_t>(MANY + 1);
    std::vector<uint32_t> seen = std::vector<uint32_t>(MANY + 1);
    uint32_t wrong = 0;

    void sees(const unet_desc *desc) { wrong += desc->user != seen[desc->channel]++; }
};

} // namespace

TEST_CASE("receive: whatever rings have something is found, and in order")
{
    const unsigned seed = GENERATE(range(1u, 6u));
    std::mt19937 random(seed);
    Recorded r(7, 13, MANY);
    Numbers numbers;

    CAPTURE(seed);
    for (uint16_t n = 1; n <= MANY; n++)
        r.open(n);
    for (int step = 0; step < 20000; step++) {
        const auto channel = static_cast<uint16_t>(1 + random() % MANY);

        if (random() % 2 && number_arrives(r, channel, numbers.sent[channel]))
            numbers.sent[channel]++;
        const unet_desc *desc = random() % 2 ? unet_rx_peek(&r.ni->ep) : nullptr;
        if (desc) {
            numbers.sees(desc);
            unet_rx_release(&r.ni->ep);
        }
    }
    while (const unet_desc *desc = unet_rx_peek(&r.ni->ep)) {
        numbers.sees(desc);
        unet_rx_release(&r.ni->ep);
    }
    CHECK(numbers.seen == numbers.sent);
    CHECK(numbers.wrong == 0);
    CHECK(std::all_of(r.ni->filled, r.ni->filled + MANY / 64 + 1,
                      [](uint64_t word) { return word == 0; }));
}

TEST_CASE("receive: rings take turns, however many there are")
{
    const uint32_t channels = GENERATE(FEW, MANY);
    Recorded r(7, 13, channels);
    std::vector<int> turns;

    CAPTURE(channels);
    for (uint16_t n = 1; n <= channels; n++)
        r.open(n);
    for (const auto channel : {static_cast<uint16_t>(1), static_cast<uint16_t>(channels)}) {
        for (uint32_t i = 0; i < 2 * UNET_RX_BURST; i++)
            REQUIRE(number_arrives(r, channel, i));
    }
    while (const unet_desc *desc = unet_rx_peek(&r.ni->ep)) {
        if (turns.empty() || turns.back() != desc->channel)
            turns.push_back(desc->channel);
        unet_rx_release(&r.ni->ep);
    }
    CHECK(turns == std::vector<int>{1, static_cast<int>(channels), 1, static_cast<int>(channels)});
}

// Each time a few that nothing follows, while the receiver finds the ring empty.
TEST_CASE("receive: nothing is overlooked that another thread puts into a ring meanwhile")
{
    constexpr uint32_t COUNT = 200000;
    Recorded r(7, 13, MANY);
    std::atomic<uint32_t> seen{0};
    std::atomic<bool> given_up{false};
    uint32_t wrong = 0;

    r.open(MANY);
    std::thread filler([&] {
        for (uint32_t i = 0; i < COUNT && !given_up; i++) {
            number_arrives(r, MANY, i);
            for (uint32_t turn = 1; i % 3 == 0 && seen <= i && !given_up; turn++) {
                if (turn % 1000 == 0)
                    std::this_thread::yield();
            }
        }
    });
    uint64_t since = unet_now_us();
    while (seen < COUNT && !given_up) {
        const unet_desc *desc = unet_rx_peek(&r.ni->ep);

        if (!desc) {
            given_up = unet_now_us() - since > 20000000;
            continue;
        }
        wrong += desc->user != seen;
        unet_rx_release(&r.ni->ep);
        seen++;
        since = unet_now_us();
    }
    filler.join();
    CHECK(seen == COUNT);
    CHECK(wrong == 0);
}

TEST_CASE("receive: what arrives is shown if it is whole, and otherwise counted")
{
    Recorded r(7, 13, GENERATE(FEW, MANY));
    unet_endpoint *ep = &r.ni->ep;
    const uint32_t end = ep->config.segment_bytes;
    const std::vector<std::pair<unet_desc, bool>> arrivals = {
        {arrival(UNET_INLINE, 0), true},
        {arrival(UNET_INLINE, UNET_INLINE_MAX), true},
        {arrival(UNET_INLINE, UNET_INLINE_MAX + 1), false},
        {arrival(UNET_PIECES, 5, {{0, 5}}), true},
        {arrival(UNET_PIECES, 10, {{0, 1}, {8, 2}, {16, 3}, {end - 4, 4}}), true},
        {arrival(UNET_PIECES, 4, {{0, 5}}), false},
        {arrival(UNET_PIECES, 6, {{0, 5}}), false},
        {arrival(UNET_PIECES, 5, {{end - 4, 5}}), false},
        {arrival(UNET_PIECES, 5, {{end + 1, 5}}), false},
        {arrival(UNET_PIECES, 8, {{0, 4}, {end - 3, 4}}), false},
        {arrival(UNET_PIECES, 0, {{0, 0}}), false},
        {arrival(UNET_PIECES, 0), false},
        {arrival(UNET_PIECES, UNET_MESSAGE_MAX, {{0, UNET_MESSAGE_MAX}}), true},
        {arrival(UNET_PIECES, UNET_MESSAGE_MAX + 1, {{0, UNET_MESSAGE_MAX + 1}}), false},
        {arrival(UNET_PIECES, 5, {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}), false},
        {arrival(UNET_DIRECT, 5, {{0, 5}}), true},
        {arrival(UNET_DIRECT, 5), false}, // as of ranges, which it has not
        {arrival(UNET_ERROR, 5, {{0, 5}}), false},
    };
    uint64_t bad = 0;

    r.open(1);
    for (const auto &[desc, good] : arrivals) {
        INFO("kind " << static_cast<int>(desc.kind) << ", length " << desc.length << ", pieces "
                     << static_cast<int>(desc.pieces));
        arrives(r, desc);
        const unet_desc *seen = unet_rx_peek(ep);
        CHECK((seen != nullptr) == good);
        if (seen)
            unet_rx_release(ep);
        bad += !good;
        CHECK(ep->stats.malformed == bad);
    }
    CHECK(ep->stats.foreign == 0);
}

TEST_CASE("receive: what was placed by another's grant has no pieces, where there are ranges")
{
    Recorded r;
    unet_endpoint *ep = &r.ni->ep;

    r.ops.ranges = &ranges;
    r.open(1);
    arrives(r, arrival(UNET_DIRECT, 5));
    REQUIRE(unet_rx_peek(ep) != nullptr);
    unet_rx_release(ep);
    arrives(r, arrival(UNET_PIECES, 5));
    CHECK(unet_rx_peek(ep) == nullptr);
    CHECK(ep->stats.malformed == 1);
}

TEST_CASE("receive: what is wrong does not hide what comes behind it")
{
    Recorded r(7, 13, GENERATE(FEW, MANY));
    unet_endpoint *ep = &r.ni->ep;
    unet_desc another = arrival(UNET_INLINE, 1);

    another.channel = 2;
    r.open(1);
    r.open(2);
    arrives(r, arrival(UNET_PIECES, 0));
    arrives(r, another);
    arrives(r, arrival(UNET_INLINE, 7));
    const unet_desc *seen = unet_rx_peek(ep);
    REQUIRE(seen != nullptr);
    CHECK(seen->length == 7);
    CHECK((ep->stats.malformed == 1 && ep->stats.foreign == 1));
}

TEST_CASE("range: what an endpoint cannot do is refused, and what it can is handed on")
{
    Recorded r;
    unet_endpoint *ep = &r.ni->ep;
    uint16_t range = 0;
    uint64_t grant = 0;

    r.open(1);
    CHECK(unet_export(ep, nullptr, 4096, &range) == -EOPNOTSUPP);
    CHECK(unet_unexport(ep, 1) == -EOPNOTSUPP);
    CHECK(unet_hold(ep, 2, 3) == -EOPNOTSUPP);
    unet_release(ep, 2, 3);
    CHECK(unet_grant(ep, 1, 2, 3, &grant) == -EOPNOTSUPP);
    CHECK(unet_revoke(ep, 5) == -EOPNOTSUPP);
    CHECK(unet_put(ep, 1, 0, 2, 3, 4, 5, nullptr) == -EOPNOTSUPP);
    CHECK(unet_put_more(ep, 1, 0, 2, 3, 4, 5, nullptr) == -EOPNOTSUPP);
    CHECK(r.calls.empty());
    CHECK(ep->tx.position == 0);
    r.ops.ranges = &ranges;
    CHECK(unet_export(ep, nullptr, 4096, &range) == 0);
    CHECK(unet_unexport(ep, 1) == 0);
    CHECK(unet_hold(ep, 2, 3) == 0);
    unet_release(ep, 2, 3);
    CHECK(unet_grant(ep, 1, 2, 3, &grant) == 0);
    CHECK(unet_revoke(ep, 5) == 0);
    CHECK(r.calls == std::vector<std::string>{"export 4096", "end 1", "hold 2 3", "release 2 3",
                                              "grant 1 2 3", "revoke 5"});
    CHECK((range == 1 && grant == 5));
}

TEST_CASE("range: a put is a descriptor with both places and the grant")
{
    const bool more = GENERATE(false, true);
    Recorded r;
    unet_endpoint *ep = &r.ni->ep;
    uint32_t ticket = 0;
    const auto put = [&](uint16_t channel) {
        return (more ? unet_put_more : unet_put)(ep, channel, 6, 2, 3, 4, 5, &ticket);
    };

    r.ops.ranges = &ranges;
    r.open(1);
    CHECK(put(2) == -ENOTCONN);
    unet_ni_connecting(r.ni, 2);
    CHECK(put(2) == -EAGAIN);
    REQUIRE(put(1) == 0);
    CHECK(r.calls.size() == (more ? 0 : 1)); // the network interface is told of the last one
    const unet_desc *desc = unet_ring_peek(&r.ni->tx);
    REQUIRE(desc != nullptr);
    CHECK((desc->channel == 1 && desc->kind == UNET_DIRECT && desc->pieces == 0));
    CHECK((desc->local == 2 && desc->length == 3 && desc->remote == 4 && desc->grant == 5));
    CHECK(desc->user == 6);
    CHECK_FALSE(unet_sent(ep, ticket));
    unet_ring_release(&r.ni->tx);
    unet_ring_publish(&r.ni->tx);
    CHECK(unet_sent(ep, ticket));
}

/* ---- resting ----------------------------------------------------------------------- */

TEST_CASE("rest: a loop sleeps once it has spun and yielded as often as its policy says")
{
    for (const unet_rest_policy *policy :
         {&unet_rest_memory, &unet_rest_network, &unet_rest_crowded, &unet_rest_room,
          &unet_rest_meeting}) {
        uint32_t looks = 1;

        while (looks < 1000000 && unet_rest_after(policy, looks))
            looks++;
        CHECK(looks == policy->spins + policy->yields + 1);
        CHECK_FALSE(unet_rest_after(policy, UINT32_MAX));
        unet_rest_awake(policy, policy->yields * (policy->spins + 1)); // yields, and comes back
    }
    CHECK(unet_rest_crowded.spins == 0); // another rank needs the processor
}
