// SPDX-License-Identifier: BSD-3-Clause
//
// order_test.cc - notes between drivers, and what waits behind them.
#include "test/peer.h"

#include <algorithm>
#include <random>

TEST_CASE("a note arrives in order with messages")
{
    Peer a(0), b(1);

    REQUIRE(a.send("one") == 0);
    REQUIRE(a.note(1, "mark") == 0);
    REQUIRE(a.send("two") == 0);
    b.receive(a.transmit());
    CHECK(b.messages == Texts{"one", "note 1 mark", "two"});
}

TEST_CASE("messages behind a note wait until its driver lets them go on")
{
    const bool shared = GENERATE(true, false); // in the note's packet, or behind it
    Peer a(0), b(1);

    REQUIRE(a.note(PAUSE, "") == 0);
    if (!shared)
        b.receive(a.transmit());
    REQUIRE(a.send("one") == 0);
    b.receive(a.transmit());
    REQUIRE(a.send(std::string(3 * PART, 'x')) == 0);
    REQUIRE(a.note(PAUSE, "again") == 0);
    REQUIRE(a.send("two") == 0);
    b.receive(a.transmit());
    CHECK(b.messages == Texts{"note 7 "});
    b.now += RELIABLE_ACK_DELAY_US;
    a.receive(b.transmit());
    CHECK(reliable_engine_idle(a.engine)); // what waits is acknowledged

    reliable_engine_resume(b.engine, 0);
    CHECK(b.messages == Texts{"note 7 ", "one", std::string(3 * PART, 'x'), "note 7 again"});
    reliable_engine_resume(b.engine, 0);
    CHECK(b.messages.back() == "two");
    reliable_engine_resume(b.engine, 0); // nothing waits
    REQUIRE(a.send("three") == 0);
    b.receive(a.transmit());
    CHECK(b.messages.back() == "three");
}

TEST_CASE("messages and notes keep their order, whatever the network makes of it")
{
    std::mt19937 random(GENERATE(range(1u, 40u)));
    Peer a(0), b(1);
    Texts expected;
    bool done = false;

    for (int i = 0; i < 300; i++) {
        const std::string text = std::to_string(i) + std::string(random() % 1500, 'x');

        if (random() % 8 == 0) {
            const uint32_t kind = random() % 2 ? PAUSE : 1;

            if (a.note(kind, std::to_string(i)) == 0)
                expected.push_back("note " + std::to_string(kind) + " " + std::to_string(i));
        } else if (a.send(text) == 0) {
            expected.push_back(text);
        }
        auto wires = a.transmit();
        std::shuffle(wires.begin(), wires.end(), random);
        for (Wire &wire : wires) {
            if (random() % 10 != 0)
                b.receive(wire);
        }
        if (random() % 4 == 0)
            reliable_engine_resume(b.engine, 0);
        b.now += 200;
        a.now += 200;
        a.receive(b.transmit());
    }
    for (int i = 0; i < 10000 && !done; i++) {
        a.now += 1000;
        b.now += 1000;
        b.receive(a.transmit());
        a.receive(b.transmit());
        reliable_engine_resume(b.engine, 0);
        done = reliable_engine_idle(a.engine) && b.messages.size() == expected.size();
    }
    CHECK(b.messages == expected);
}

TEST_CASE("who waits behind a note for ever costs a window of packets, and no more")
{
    Peer a(0), b(1);
    reliable_connection *conn;

    REQUIRE(a.note(PAUSE, "") == 0);
    for (int i = 0; i < 20000; i++) {
        a.now += 100;
        b.now += 100;
        a.send(std::string(PART, 'x'));
        b.receive(a.transmit());
        a.receive(b.transmit());
    }
    conn = b.engine->heap[0];
    CHECK(conn->rcv.paused_count == RELIABLE_WINDOW);
    CHECK(b.stats().refused[RELIABLE_REFUSED_NO_MEMORY] > 0);
    reliable_engine_abort(b.engine, 0);
    CHECK(conn->rcv.paused_count == 0);
}

TEST_CASE("a note that is not where one may be is malformed")
{
    const bool too_long = GENERATE(true, false);
    Peer a(0), b(1);
    reliable_frame frame;

    REQUIRE(a.send("one") == 0);
    REQUIRE(a.send(std::string(100, 'x')) == 0);
    auto wires = a.transmit();
    REQUIRE(wires.size() == 1);
    const size_t second = sizeof(reliable_packet) + sizeof(frame) + 3;

    std::memcpy(&frame, wires[0].bytes() + second, sizeof(frame));
    frame.flags = RELIABLE_FRAME_NOTE;
    if (!too_long) {
        frame.length = 4;
        wires[0].length = second + sizeof(frame) + 4;
        wires[0].header().length = static_cast<uint16_t>(wires[0].length - sizeof(reliable_packet));
    }
    std::memcpy(wires[0].bytes() + second, &frame, sizeof(frame));
    wires[0].seal();
    b.receive(wires);
    CHECK(b.messages.empty());
    CHECK(b.stats().refused[RELIABLE_REFUSED_MALFORMED] == 1);
}
