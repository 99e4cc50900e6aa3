// SPDX-License-Identifier: BSD-3-Clause
//
// rack_test.cc - what counts as lost, and when it turns out not to be; many packets in flight.
#include <catch2/catch.hpp>

#include <algorithm>

extern "C" {
#include "src/connection.h"
}

#include "test/peer.h"

namespace {

constexpr uint64_t WAY = 50; // us, each

// Two peers that know their round trip, of 2 * WAY, and have a window for many packets.
struct Pair {
    Peer a{0}, b{1};

    Pair()
    {
        for (int i = 0; i < 300; i++)
            exchange(carry(std::max(1, std::min(64, i))));
        REQUIRE(a.stats().sent_again == 0);
    }
    // So many full packets, which a sends now.
    std::vector<Wire> carry(int count)
    {
        for (int i = 0; i < count; i++)
            REQUIRE(a.send(std::string(PART, 'x')) == 0);
        return a.transmit();
    }
    void pass(uint64_t us)
    {
        a.now += us;
        b.now = a.now;
    }
    // They arrive, and their acknowledgement.
    void exchange(const std::vector<Wire> &wires)
    {
        pass(WAY);
        b.receive(wires);
        auto acks = b.transmit();
        pass(WAY);
        a.receive(acks);
    }
};

std::vector<Wire> without(std::vector<Wire> wires, size_t at)
{
    wires.erase(wires.begin() + static_cast<std::ptrdiff_t>(at));
    return wires;
}

} // namespace

TEST_CASE("a packet that is overtaken is lost a quarter of a round trip later, not at once")
{
    Pair p;
    const auto flight = p.carry(20);
    const uint64_t number = Wire(flight[3]).header().number;

    REQUIRE(flight.size() == 20);
    p.exchange(without(flight, 3));
    CHECK(p.a.transmit().empty());
    CHECK(reliable_engine_deadline(p.a.engine) == p.a.now + 2 * WAY / 4);
    p.pass(2 * WAY / 4 - 1);
    CHECK(p.a.transmit().empty());
    p.pass(1);
    auto again = p.a.transmit();
    REQUIRE(again.size() == 1);
    CHECK(again[0].header().number == number);
    p.exchange(again);
    CHECK(reliable_engine_idle(p.a.engine));
    CHECK(p.a.stats().congestions == 1);
    CHECK(p.a.stats().spurious == 0);
}

TEST_CASE("what came late is not lost, takes its cut back, and is waited for longer the next time")
{
    Pair p;
    const uint32_t cwnd = reliable_engine_find(p.a.engine, 1)->cc.cwnd;
    auto flight = p.carry(20);

    p.exchange(without(flight, 3));
    p.pass(2 * WAY / 4);
    REQUIRE(p.a.transmit().size() == 1); // is sent again for nothing,
    CHECK(reliable_engine_find(p.a.engine, 1)->cc.cwnd < cwnd);
    p.b.receive(flight[3]);
    p.pass(10); // for its acknowledgement comes sooner than any can
    p.a.receive(p.b.transmit());
    CHECK(p.a.stats().spurious == 1);
    CHECK(p.a.stats().undone == 1);
    CHECK(reliable_engine_find(p.a.engine, 1)->cc.cwnd >= cwnd);

    flight = p.carry(20);
    p.exchange(without(flight, 5));
    p.pass(2 * WAY / 4 + 10);
    CHECK(p.a.transmit().empty());
    p.b.receive(flight[5]);
    p.a.receive(p.b.transmit());
    CHECK(p.a.stats().sent_again == 1);
    CHECK(reliable_engine_idle(p.a.engine));
}

TEST_CASE("a packet that is lost again is found lost again")
{
    Pair p;
    const auto flight = p.carry(10);

    p.exchange(without(flight, 0));
    p.pass(WAY);
    REQUIRE(p.a.transmit().size() == 1); // is lost, too
    p.exchange(p.carry(4));
    p.pass(WAY);
    auto again = p.a.transmit();
    REQUIRE(again.size() == 1);
    CHECK(again[0].header().number == Wire(flight[0]).header().number);
    CHECK(p.a.stats().timeouts == 0);
    p.exchange(again);
    CHECK(reliable_engine_idle(p.a.engine));
}

TEST_CASE("a question finds the lost end of a train before the retransmission timer expires")
{
    Pair p;
    auto flight = p.carry(10);

    flight.resize(8);
    p.exchange(flight);
    REQUIRE(p.a.transmit().empty());
    const uint64_t start = p.a.now;
    std::vector<Wire> question;
    while (question.empty() && p.a.now < start + 10000) {
        p.a.now = p.b.now = std::max(p.a.now + 1, reliable_engine_deadline(p.a.engine));
        question = p.a.transmit();
    }
    REQUIRE(question.size() == 1);
    CHECK(question[0].header().number == 0);
    CHECK(question[0].header().flags & RELIABLE_PACKET_PING);
    CHECK(p.a.now - start < 500);
    p.exchange(question);
    CHECK(p.a.transmit().size() == 2);
    CHECK(p.a.stats().tail_probes == 1);
    CHECK(p.a.stats().timeouts == 0);
    CHECK(reliable_engine_find(p.a.engine, 1)->cc.cwnd > 8);
}

TEST_CASE("all of a window that came early is told of, and nothing of it sent again")
{
    Pair p;
    auto *conn = reliable_engine_find(p.a.engine, 1);
    std::vector<Wire> flight;

    conn->cc.cwnd = RELIABLE_WINDOW;
    conn->snd.rwnd = RELIABLE_WINDOW;
    flight = p.carry(RELIABLE_WINDOW);
    REQUIRE(flight.size() == RELIABLE_WINDOW);
    p.pass(WAY);
    p.b.receive(without(flight, 0));
    auto acks = p.b.transmit();
    REQUIRE(acks.size() == 1);
    CHECK(acks[0].length == sizeof(reliable_packet) + 8 * RELIABLE_SACK_WORDS);
    p.pass(WAY);
    p.a.receive(acks);
    CHECK(conn->snd.in_flight == 1);
    p.pass(WAY);
    auto again = p.a.transmit();
    REQUIRE(again.size() == 1);
    p.exchange(again);
    CHECK(reliable_engine_idle(p.a.engine));
    CHECK(p.a.stats().sent_again == 1);
    CHECK(p.b.stats().duplicates == 0);
}

TEST_CASE("what carries messages tells of 64 packets, and another packet of all that came early")
{
    Pair p;
    auto flight = p.carry(200);

    REQUIRE(flight.size() > 100);
    p.pass(WAY);
    p.b.receive(without(flight, 0));
    REQUIRE(p.b.send("message", 0) == 0);
    auto wires = p.b.transmit();
    REQUIRE(wires.size() == 2);
    CHECK(wires[0].header().number != 0);
    CHECK(wires[1].header().number == 0);
    CHECK(wires[1].length > sizeof(reliable_packet));
    p.pass(WAY);
    p.a.receive(wires);
    CHECK(reliable_engine_find(p.a.engine, 1)->snd.in_flight == 1);
}

TEST_CASE("memory: a connection that is idle gives its ring back")
{
    Pair p;
    auto *conn = reliable_engine_find(p.a.engine, 1);

    REQUIRE(conn->snd.buffer != conn->snd.few);
    p.pass(1000000 / RELIABLE_HEARTBEATS + 1);
    p.a.transmit();
    CHECK(conn->snd.buffer == conn->snd.few);
    CHECK(conn->snd.mask == RELIABLE_SENT_FEW - 1);
    p.exchange(p.carry(40));
    CHECK(reliable_engine_idle(p.a.engine));
}
