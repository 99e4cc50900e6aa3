// SPDX-License-Identifier: BSD-3-Clause
//
// congestion_test.cc - the congestion window.
#include <catch2/catch.hpp>

extern "C" {
#include "src/connection.h"
}

namespace {

// A connection that has sent 1000 packets, and of whose last round trip no queue is known.
struct Sender {
    reliable_engine engine = {};
    reliable_connection conn = {};

    Sender()
    {
        reliable_rtt_open(&conn);
        reliable_congestion_open(&conn);
        reliable_rack_open(&conn);
        conn.snd.nxt = 1000;
        conn.snd.in_flight = RELIABLE_WINDOW; // the window is what limits it
        reliable_rtt_sample(&conn.rtt, 1, 100);
    }
    void window(uint32_t cwnd, uint32_t ssthresh)
    {
        conn.cc.cwnd = cwnd;
        conn.cc.ssthresh = ssthresh;
    }
    void queue_on_the_way() { reliable_rtt_sample(&conn.rtt, 1, 1000); }
    void acks(uint32_t count)
    {
        for (uint32_t i = 0; i < count; i++)
            reliable_congestion_ack(&conn);
    }
    void loss(uint64_t number) { reliable_congestion_loss(&engine, &conn, number); }
    void timeout() { reliable_congestion_timeout(&engine, &conn); }
};

} // namespace

TEST_CASE("the window begins with 8 packets and doubles with each round trip")
{
    Sender s;

    CHECK(s.conn.cc.cwnd == 8);
    s.acks(8);
    CHECK(s.conn.cc.cwnd == 16);
    s.acks(16);
    CHECK(s.conn.cc.cwnd == 32);
}

TEST_CASE("from ssthresh on it grows by one packet with each round trip")
{
    Sender s;

    s.window(9, 10);
    s.acks(1);
    CHECK(s.conn.cc.cwnd == 10);
    s.acks(9);
    CHECK(s.conn.cc.cwnd == 10);
    s.acks(1);
    CHECK(s.conn.cc.cwnd == 11);
    s.acks(10);
    CHECK(s.conn.cc.cwnd == 11);
    s.acks(1);
    CHECK(s.conn.cc.cwnd == 12);
}

TEST_CASE("it grows no further than packets can be in flight")
{
    Sender s;

    s.acks(10000);
    CHECK(s.conn.cc.cwnd == RELIABLE_WINDOW);
}

TEST_CASE("a window that is not used does not grow")
{
    Sender s;

    s.window(100, 100);
    s.conn.snd.in_flight = 24;
    s.acks(1000);
    CHECK(s.conn.cc.cwnd == 100);
    s.conn.snd.in_flight = 25;
    s.acks(100);
    CHECK(s.conn.cc.cwnd == 101);
}

TEST_CASE("a loss cuts it by half if the round trip has grown, else by one packet and a 256th")
{
    const bool grown = GENERATE(true, false);
    Sender s;

    s.window(128, RELIABLE_WINDOW);
    if (grown)
        s.queue_on_the_way();
    s.loss(999);
    CHECK(s.conn.cc.cwnd == (grown ? 64u : 127u));
    CHECK(s.conn.cc.ssthresh == s.conn.cc.cwnd);
    CHECK(s.engine.stats.congestions == 1);
}

TEST_CASE("losses that are not isolated cut it by half whatever the round trip")
{
    const uint32_t distance = GENERATE(10u, 100u);
    Sender s;
    uint32_t before = 0;

    for (uint64_t number = 1000; number < 5000; number += distance) {
        s.window(128, RELIABLE_WINDOW);
        s.conn.snd.nxt = number + 1;
        before = s.conn.cc.cwnd;
        s.loss(number);
    }
    INFO("a loss in " << distance);
    CHECK(s.conn.cc.cwnd == (distance == 10 ? before / 2 : before - 1));
}

TEST_CASE("a cut is taken back when none of the losses was one")
{
    Sender s;

    s.window(128, 200);
    s.queue_on_the_way();
    for (uint64_t number : {990, 999})
        s.loss(number);
    REQUIRE(s.conn.cc.cwnd == 64);
    reliable_congestion_undo(&s.engine, &s.conn);
    CHECK(s.conn.cc.cwnd == 64); // the other one may be
    reliable_congestion_undo(&s.engine, &s.conn);
    CHECK(s.conn.cc.cwnd == 128);
    CHECK(s.conn.cc.ssthresh == 200);
    CHECK(s.engine.stats.undone == 1);
    reliable_congestion_undo(&s.engine, &s.conn);
    CHECK(s.engine.stats.undone == 1);
}

TEST_CASE("a cut after a time-out is not taken back")
{
    Sender s;

    s.window(128, 200);
    s.loss(999);
    s.timeout();
    reliable_congestion_undo(&s.engine, &s.conn);
    CHECK(s.conn.cc.cwnd == 2);
}

TEST_CASE("one window of packets cuts it once")
{
    Sender s;

    s.window(128, RELIABLE_WINDOW);
    s.queue_on_the_way();
    for (uint64_t number : {990, 999, 0})
        s.loss(number);
    CHECK(s.conn.cc.cwnd == 64);
    s.loss(1000); // the first that was sent after the cut
    CHECK(s.conn.cc.cwnd == 32);
    CHECK(s.engine.stats.congestions == 2);
}

TEST_CASE("acknowledgements before a loss do not count for the growth after it")
{
    Sender s;

    s.window(10, 10);
    s.acks(9);
    s.loss(999);
    REQUIRE(s.conn.cc.cwnd == 9);
    s.acks(8);
    CHECK(s.conn.cc.cwnd == 9);
    s.acks(1);
    CHECK(s.conn.cc.cwnd == 10);
}

TEST_CASE("two packets may always be in flight")
{
    const bool grown = GENERATE(true, false);
    Sender s;

    s.window(3, RELIABLE_WINDOW);
    if (grown)
        s.queue_on_the_way();
    s.loss(999);
    CHECK(s.conn.cc.cwnd == 2);
}

TEST_CASE(
    "after a time-out two packets go, and ssthresh is half of the window before the first one")
{
    Sender s;

    s.window(100, RELIABLE_WINDOW);
    s.timeout();
    CHECK(s.conn.cc.cwnd == 2);
    CHECK(s.conn.cc.ssthresh == 50);
    s.timeout();
    CHECK(s.conn.cc.cwnd == 2);
    CHECK(s.conn.cc.ssthresh == 50);
    CHECK(s.engine.stats.congestions == 2);
    s.loss(999); // was sent before
    CHECK(s.conn.cc.ssthresh == 50);
}

TEST_CASE("a mark cuts the window by a fifth, once in a window")
{
    Sender s;

    s.window(100, RELIABLE_WINDOW);
    reliable_congestion_mark(&s.engine, &s.conn, 500, 1);
    CHECK(s.conn.cc.cwnd == 80);
    CHECK(s.conn.cc.ssthresh == 80);
    reliable_congestion_mark(&s.engine, &s.conn, 999, 2);
    CHECK(s.conn.cc.cwnd == 80);
    s.conn.snd.nxt = 2000;
    reliable_congestion_mark(&s.engine, &s.conn, 1000, 3);
    CHECK(s.conn.cc.cwnd == 64);
    CHECK(s.engine.stats.congestions == 2);
}

TEST_CASE("a mark and a loss of one window cut it once")
{
    const bool mark_first = GENERATE(true, false);
    Sender s;

    s.window(100, RELIABLE_WINDOW);
    s.queue_on_the_way();
    if (mark_first)
        reliable_congestion_mark(&s.engine, &s.conn, 500, 1);
    s.loss(900);
    reliable_congestion_mark(&s.engine, &s.conn, 901, 2);
    CHECK(s.conn.cc.cwnd == (mark_first ? 80 : 50));
}

TEST_CASE("marks leave a window of 2")
{
    Sender s;

    s.window(2, 2);
    for (uint64_t i = 1; i <= 10; i++) {
        reliable_congestion_mark(&s.engine, &s.conn, 1000 * i, static_cast<uint8_t>(i));
        s.conn.snd.nxt += 1000;
    }
    CHECK(s.conn.cc.cwnd == 2);
}
