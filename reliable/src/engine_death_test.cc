// SPDX-License-Identifier: BSD-3-Clause
//
// Who is dead, and who is not: heartbeats, silence, and answers that say that nothing came.
#include "test/peer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>

TEST_CASE("an idle conn is kept alive by heartbeats, four in a peer timeout")
{
    Peer a(0), b(1);

    REQUIRE(a.send("x") == 0);
    for (uint64_t t = 0; t < 10000000; t += 1000) {
        a.now = b.now = 1000 + t;
        b.receive(a.transmit());
        a.receive(b.transmit());
    }
    CHECK(a.died.empty());
    CHECK(b.died.empty());
    CHECK(a.stats().pings + b.stats().pings >= 30);
    CHECK(a.stats().pings + b.stats().pings <= 45);
}

TEST_CASE("a silent peer is dead after the peer timeout, and told once")
{
    Peer a(0);
    uint64_t told = 0;

    REQUIRE(a.send("is anybody there?") == 0);
    for (uint64_t t = 0; t < 3000000; t += 1000) {
        a.now = 1000 + t;
        a.transmit();
        if (told == 0 && !a.died.empty())
            told = t;
    }
    CHECK(a.died == std::vector<uint32_t>{1});
    CHECK(told >= 1000000);
    CHECK(told <= 1100000);
    CHECK(a.send("hello?") == -EPIPE);
    CHECK(reliable_engine_idle(a.engine));
}

namespace {

// A second, a millisecond at a time: what `passes` of a's packets arrives, and all of b's.
void second(Peer &a, Peer &b, const std::function<bool(const reliable_packet &)> &passes)
{
    for (int i = 0; i < 1000; i++) {
        a.now = b.now += 1000;
        for (Wire &wire : a.transmit()) {
            if (passes(wire.header()))
                b.receive(wire);
        }
        a.receive(b.transmit());
    }
}

bool is_bare(const reliable_packet &packet)
{
    return packet.number == 0;
}

} // namespace

TEST_CASE("whoever is given up, what is due to others is due when it was")
{
    constexpr uint32_t ranks = 12; // so many that they need not be acknowledged at once
    const unsigned seed = GENERATE(range(1u, 41u));
    std::mt19937 random(seed);
    Peer hub(0, ranks);
    std::vector<std::unique_ptr<Peer>> others;
    std::map<uint32_t, uint64_t> expected, seen;
    const auto acknowledge_until = [&](uint64_t end) {
        for (; reliable_engine_deadline(hub.engine) <= end;) {
            hub.now = std::max(hub.now, reliable_engine_deadline(hub.engine));
            for (Wire &wire : hub.transmit())
                seen[wire.header().dest] = hub.now;
        }
        hub.now = end;
    };

    for (uint32_t rank = 1; rank < ranks; rank++) {
        others.push_back(std::make_unique<Peer>(rank, ranks));
        REQUIRE(others.back()->send("here I am", 0) == 0);
        hub.receive(others.back()->transmit());
    }
    acknowledge_until(hub.now + 1000);
    REQUIRE(seen.size() == ranks - 1);
    seen.clear();
    for (auto &other : others) { // the acknowledgements of some are due
        other->now = hub.now;
        if (random() % 2)
            continue;
        REQUIRE(other->send("again", 0) == 0);
        hub.receive(other->transmit());
        expected[other->engine->config.rank] = hub.now++ + RELIABLE_ACK_DELAY_US;
    }
    for (uint32_t rank = 1; rank < ranks; rank++) {
        if (random() % 4 == 0) {
            reliable_engine_abort(hub.engine, rank);
            expected.erase(rank);
        }
    }
    acknowledge_until(hub.now + 10000);
    INFO("seed " << seed);
    CHECK(seen == expected);
}

TEST_CASE("who answers, but does not get what is sent, is dead after a peer timeout of it")
{
    Peer a(0), b(1);

    REQUIRE(a.send("long") == 0);
    second(a, b, is_bare);
    CHECK(a.died.empty());
    CHECK(reliable_engine_reaches(a.engine, 1));
    second(a, b, is_bare);
    CHECK(a.died == std::vector<uint32_t>{1});
    CHECK_FALSE(reliable_engine_reaches(a.engine, 1));
    CHECK(a.stats().sent_again >= 16);
    CHECK(a.send("more") == -EPIPE);
    second(a, b, is_bare);
    CHECK(b.died == std::vector<uint32_t>{0});
    CHECK(reliable_engine_reaches(b.engine, 0));
}

TEST_CASE("what overtakes the packet that never gets there is no excuse")
{
    Peer a(0), b(1);

    REQUIRE(a.send("long") == 0);
    for (int i = 0; i < 5; i++) { // the window fills first
        second(a, b, [&](const reliable_packet &packet) {
            a.send(std::string(900, 'x'));
            return packet.number != 1;
        });
    }
    CHECK(a.died == std::vector<uint32_t>{1});
}

TEST_CASE("who gets little of what is sent, but does, is not taken for dead")
{
    Peer a(0), b(1);
    int count = 0;

    for (int i = 0; i < 20; i++) {
        while (a.send(std::string(900, 'x')) == 0) {
        }
        second(a, b,
               [&](const reliable_packet &packet) { return is_bare(packet) || ++count % 8 == 0; });
    }
    CHECK(a.died.empty());
    CHECK(b.messages.size() >= 20);
}

TEST_CASE("who computes, and only now and then takes in what came, is not taken for dead")
{
    Peer a(0), b(1);

    for (int i = 0; i < 20; i++) {
        std::vector<Wire> waiting;

        REQUIRE(a.send("x") == 0);
        for (int ms = 0; ms < 900; ms++) {
            a.now += 1000;
            for (Wire &wire : a.transmit())
                waiting.push_back(wire);
        }
        b.now = a.now;
        b.receive(waiting);
        a.receive(b.transmit());
    }
    CHECK(a.died.empty());
    CHECK(b.messages.size() == 20);
}

TEST_CASE("who is away itself does not take for dead who answers that nothing came")
{
    Peer a(0), b(1);

    REQUIRE(a.send("long") == 0);
    for (int i = 0; i < 100; i++) {
        a.now = b.now += 300000; // more than a quarter of the peer timeout
        for (Wire &wire : a.transmit()) {
            if (is_bare(wire.header()))
                b.receive(wire);
        }
        a.receive(b.transmit());
    }
    CHECK(a.died.empty());
    second(a, b, is_bare);
    second(a, b, is_bare);
    CHECK(a.died == std::vector<uint32_t>{1});
}

TEST_CASE("a rank given up is dead at once, and not told")
{
    Peer a(0), b(1);

    REQUIRE(a.send("x") == 0);
    REQUIRE(b.send("y", 0) == 0);
    auto late = b.transmit();
    reliable_engine_abort(a.engine, 1);
    CHECK(reliable_engine_idle(a.engine));
    CHECK(a.send("z") == -EPIPE);
    CHECK(a.transmit().empty());
    a.receive(late);
    CHECK(a.messages.empty());
    CHECK(a.stats().refused[RELIABLE_REFUSED_DEAD] == 1);
    CHECK(a.died.empty());
}

TEST_CASE("who was away itself does not take others for dead")
{
    Peer a(0), b(1);

    REQUIRE(a.send("x") == 0);
    b.receive(a.transmit());
    a.now += 60000000;
    auto wires = a.transmit();
    CHECK(a.died.empty());
    REQUIRE(wires.size() >= 1);
    b.receive(wires);
    a.receive(b.transmit());
    a.now += 300000;
    a.transmit();
    CHECK(a.died.empty());
}

TEST_CASE("more than a quarter of the peer timeout without a look is a pause of our own")
{
    Peer a(0);

    a.transmit(); // the first look of all counts as one after a pause
    const uint64_t grace = reliable_engine_grace(a.engine);
    a.now += 250000;
    a.transmit();
    CHECK(reliable_engine_grace(a.engine) == grace);
    a.now += 250001;
    a.transmit();
    CHECK(reliable_engine_grace(a.engine) == a.now);
}

// ---- memory ------------------------------------------------------------------------------
