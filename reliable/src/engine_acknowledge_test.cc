// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol's state machine: when acknowledgements go, and what they carry.
#include "test/peer.h"

TEST_CASE("a message goes at once and its acknowledgement follows within 100 us")
{
    Peer a(0), b(1);

    REQUIRE(a.send("hello") == 0);
    CHECK(reliable_engine_deadline(a.engine) == 0);
    auto wires = a.transmit();
    REQUIRE(wires.size() == 1);
    b.receive(wires);
    CHECK(b.messages == Texts{"hello"});
    CHECK(b.transmit().empty());
    CHECK(reliable_engine_deadline(b.engine) == b.now + 100);
    b.now += 100;
    auto acks = b.transmit();
    REQUIRE(acks.size() == 1);
    CHECK(acks[0].header().number == 0);
    CHECK_FALSE(reliable_engine_idle(a.engine));
    a.receive(acks);
    CHECK(reliable_engine_idle(a.engine));
    CHECK(a.transmit().empty());
}

TEST_CASE("whoever comes back from other work puts an overdue acknowledgement off, once")
{
    Peer a(0), b(1);

    REQUIRE(a.send("hello") == 0);
    b.receive(a.transmit());
    b.now += 300;
    reliable_engine_return(b.engine, b.now);
    CHECK(b.transmit().empty());
    CHECK(reliable_engine_deadline(b.engine) <= b.now + 100);
    SECTION("an answer carries it")
    {
        REQUIRE(b.send("answer", 0) == 0);
        a.receive(b.transmit());
        CHECK(reliable_engine_acked(a.engine, 1));
        b.now += 100;
        CHECK(b.stats().acks == 0);
    }
    SECTION("without an answer it goes")
    {
        b.now += 100;
        reliable_engine_return(b.engine, b.now);
        CHECK(b.transmit().size() == 1);
        CHECK(b.stats().acks == 1);
    }
    SECTION("the next one is put off, too, unless it is overdue for long")
    {
        const bool for_long = GENERATE(false, true);

        b.now += 100;
        a.receive(b.transmit());
        REQUIRE(a.send("again") == 0);
        b.receive(a.transmit());
        b.now += for_long ? 5000 : 300;
        reliable_engine_return(b.engine, b.now);
        CHECK(b.transmit().size() == for_long);
    }
}

TEST_CASE("an acknowledgement rides on what flows the other way")
{
    Peer a(0), b(1);

    REQUIRE(a.send("question") == 0);
    b.receive(a.transmit());
    REQUIRE(b.send("answer", 0) == 0);
    a.receive(b.transmit());
    CHECK(reliable_engine_idle(a.engine));
    b.now += 1000;
    CHECK(b.stats().acks == 0);
    CHECK(a.messages == Texts{"answer"});
}

TEST_CASE("while packets arrive their acknowledgement waits, for a lull or for many of them")
{
    Peer a(0), b(1);

    reliable_engine_arriving(b.engine);
    b.receive(flight_of(a, 8));
    CHECK(b.transmit().empty());
    CHECK(reliable_engine_deadline(b.engine) == 0); // nobody sleeps over it
    CHECK(reliable_engine_lull(b.engine));
    auto acks = b.transmit();
    REQUIRE(acks.size() == 1);
    a.receive(acks);
    CHECK(reliable_engine_idle(a.engine));
    CHECK_FALSE(reliable_engine_lull(b.engine));

    reliable_connection *conn = a.engine->heap[0];
    uint32_t unacked = 0;

    conn->cc.cwnd = conn->snd.rwnd = 2 * RELIABLE_ACK_MOST;
    reliable_engine_arriving(b.engine);
    for (; b.transmit().empty() && unacked < 2 * RELIABLE_ACK_MOST; unacked++)
        b.receive(flight_of(a, 1));
    CHECK(unacked == reliable_min(RELIABLE_ACK_MOST, b.engine->share / 2));
}

TEST_CASE("an answer carries the acknowledgement of packets that were taken in together")
{
    Peer a(0), b(1);

    reliable_engine_arriving(b.engine);
    b.receive(flight_of(a, 8));
    REQUIRE(b.send("answer", 0) == 0);
    a.receive(b.transmit());
    CHECK(reliable_engine_idle(a.engine));
    CHECK_FALSE(reliable_engine_lull(b.engine));
    CHECK(b.stats().acks == 0);
}

TEST_CASE(
    "marks of the network are told with the acknowledgement, and cut the sender's window once")
{
    Peer a(0), b(1);
    const auto cut_by = [&](bool marked) {
        const uint64_t before = a.stats().congestions;

        reliable_engine_marked(b.engine, marked);
        b.receive(flight_of(a, 6));
        reliable_engine_marked(b.engine, false);
        a.receive(b.transmit());
        REQUIRE(reliable_engine_idle(a.engine));
        return a.stats().congestions - before;
    };

    for (int i = 0; i < 40; i++) {
        CHECK(cut_by(false) == 0);
        a.engine->heap[0]->cc.cwnd = 64;
        CHECK(cut_by(true) == 1);
    }
    CHECK(b.stats().marked == 40 * 6);
    CHECK(a.engine->heap[0]->snd.rwnd == b.engine->share);
}

TEST_CASE("neither old acknowledgements nor packets that come again tell of marks")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 3);
    const auto receive = [&](size_t i, bool marked) {
        reliable_engine_marked(b.engine, marked);
        b.receive({flight[i]});
        reliable_engine_marked(b.engine, false);
        return b.transmit();
    };
    const auto old = receive(1, false), fresh = receive(2, true);

    REQUIRE(old.size() == 1);
    REQUIRE(fresh.size() == 1);
    a.receive(fresh);
    CHECK(a.stats().congestions == 1);
    CHECK(a.engine->heap[0]->cc.marks == 1);
    a.receive(old);
    CHECK(a.engine->heap[0]->cc.marks == 1);
    a.receive(receive(2, true));
    CHECK(a.engine->heap[0]->cc.marks == 1);
    CHECK(b.engine->heap[0]->rcv.marks == 1);
}
