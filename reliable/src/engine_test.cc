// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol's state machine, packet by packet.  What it does to many packets is in
// sim_test.cc.
#include "test/peer.h"

#include <algorithm>
#include <cerrno>
#include <memory>

static std::vector<Wire> next_frames(Peer &peer)
{
    for (int looks = 0; looks < 20; looks++) {
        peer.now = reliable_engine_deadline(peer.engine);
        for (Wire &wire : peer.transmit()) {
            if (wire.header().number != 0)
                return {wire};
        }
    }
    return {};
}

TEST_CASE("a lost packet goes again after its timeout, and later each time")
{
    Peer a(0), b(1);
    uint64_t last = a.now, gap = 0;

    REQUIRE(a.send("lost") == 0);
    REQUIRE(a.transmit().size() == 1);
    for (int i = 0; i < 3; i++) {
        auto again = next_frames(a);
        REQUIRE(again.size() == 1);
        CHECK(again[0].header().number == 1);
        CHECK(a.now - last > gap);
        gap = a.now - last;
        last = a.now;
        if (i == 2)
            b.receive(again);
    }
    CHECK(b.messages == Texts{"lost"});
    CHECK(a.stats().sent_again == 3);
}

TEST_CASE("a timeout asks a peer that is late, and takes nothing for lost")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 8);

    for (int i = 0; i < 3; i++) {
        auto question = next_frames(a);
        REQUIRE(question.size() == 1);
        CHECK(question[0].header().number == 1);
        CHECK(question[0].header().flags & RELIABLE_PACKET_PING);
    }
    b.receive(flight);
    a.receive(b.transmit());
    CHECK(b.messages.size() == 8);
    CHECK(a.stats().sent_again == 3);
    CHECK(a.stats().congestions == 0);
    CHECK(flight_of(a, 8).size() == 8); // as many as before go at once
}

TEST_CASE("what the answer to a timeout does not tell of goes again")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 8);

    b.receive({flight[0], flight[1], flight[4]});
    b.receive(next_frames(a));
    a.receive(b.transmit());
    std::vector<uint64_t> numbers;
    for (int i = 0; i < 4; i++) {
        auto again = a.transmit();
        for (Wire &wire : again)
            numbers.push_back(wire.header().number);
        b.receive(again);
        a.receive(b.transmit());
    }
    CHECK(numbers == std::vector<uint64_t>{3, 4, 6, 7, 8});
    CHECK(b.messages.size() == 8);
    CHECK(a.stats().timeouts == 1);
}

TEST_CASE("what the answer to a timeout tells counts though heartbeats have asked since")
{
    Peer a(0), b(1);

    flight_of(a, 8); // is lost
    b.receive(next_frames(a));
    const auto answer = b.transmit();
    while (a.stats().pings < 3) {
        a.now = reliable_engine_deadline(a.engine);
        for (Wire &wire : a.transmit())
            REQUIRE(wire.header().number == 0);
    }
    a.receive(answer);
    std::vector<uint64_t> numbers;
    for (Wire &wire : a.transmit())
        numbers.push_back(wire.header().number);
    CHECK(numbers == std::vector<uint64_t>{2, 3});
}

TEST_CASE("an answer that comes late tells nothing of what went since")
{
    Peer a(0), b(1);
    const auto first = flight_of(a, 1);

    b.receive(next_frames(a));
    const auto late = b.transmit();
    a.receive(b.transmit());
    b.receive(next_frames(a)); // the second question
    a.receive(b.transmit());
    const auto flight = flight_of(a, 8);
    CHECK(next_frames(a).size() == 1);
    a.receive(late);
    CHECK(a.transmit().empty());
    b.receive(flight);
    CHECK(b.messages.size() == 9);
}

TEST_CASE("long messages follow one another in full packets")
{
    const std::string text(3000, 'x');
    Peer a(0), b(1);
    std::vector<size_t> lengths;

    for (int i = 0; i < 5; i++)
        REQUIRE(a.send(text) == 0);
    for (int rounds = 0; rounds < 5 && b.messages.size() < 5; rounds++) {
        auto packets = a.transmit();
        for (const Wire &packet : packets)
            lengths.push_back(packet.length);
        b.receive(packets);
        a.receive(b.transmit());
    }
    CHECK(b.messages == Texts(5, text));
    REQUIRE(lengths.size() == 16); // 15 kB and their headers
    for (size_t i = 0; i + 1 < lengths.size(); i++)
        CHECK(lengths[i] >= 1024 - 64);
}

TEST_CASE("a gap is told at once, kept packets are not sent again")
{
    Peer a(0), b(1);
    std::vector<Wire> all;

    for (int i = 0; i < 6; i++) {
        REQUIRE(a.send(std::string(960, static_cast<char>('a' + i))) == 0);
        for (Wire &wire : a.transmit())
            all.push_back(wire);
    }
    REQUIRE(all.size() == 6);
    for (int i = 1; i < 6; i++)
        b.receive(all[i]);
    CHECK(b.messages.empty());
    a.receive(b.transmit()); // one acknowledgement that selects five
    auto again = a.transmit();
    REQUIRE(again.size() == 1);
    CHECK(again[0].header().number == 1);
    b.receive(again);
    REQUIRE(b.messages.size() == 6);
    for (int i = 0; i < 6; i++)
        CHECK(b.messages[i][0] == 'a' + i);
    CHECK(a.stats().timeouts == 0);
}

TEST_CASE("who sends may have an equal part of what can wait in flight")
{
    Peer hub(0, 5);
    std::vector<std::unique_ptr<Peer>> others;
    const auto window_told_to = [&](Peer &other) {
        other.now = hub.now;
        REQUIRE(other.send("text", 0) == 0);
        hub.receive(other.transmit());
        hub.now += RELIABLE_ACK_DELAY_US;
        auto acks = hub.transmit();
        REQUIRE(acks.size() == 1);
        other.receive(acks);
        return acks[0].header().rwnd;
    };

    for (uint32_t rank = 1; rank < 5; rank++)
        others.push_back(std::make_unique<Peer>(rank, 5));
    CHECK_FALSE(reliable_engine_answers(hub.engine, 1));
    CHECK(window_told_to(*others[0]) == 64); // 64 KiB
    CHECK(reliable_engine_answers(hub.engine, 1));
    CHECK(window_told_to(*others[1]) == 32);
    CHECK(window_told_to(*others[2]) == 21);
    CHECK(window_told_to(*others[3]) == 16);
    hub.now += 12000; // they may go on
    CHECK(window_told_to(*others[0]) == 16);
    hub.now += 12000; // they did not
    CHECK(window_told_to(*others[0]) == 64);
    CHECK(window_told_to(*others[3]) == 32);
}

TEST_CASE("a sender may have in flight what arrives in a round trip, and 64 KiB, if that can wait")
{
    Peer a(0), b(1);
    uint32_t least = UINT32_MAX, most = 0;

    for (int round = 0; round < 100; round++) { // of 1000 us, 100 packets in each
        for (int i = 0; i < 100; i++)
            a.send(std::string(960, 'x'));
        auto flight = a.transmit();
        a.now += 1000;
        b.now = a.now;
        b.receive(flight);
        for (Wire &wire : b.transmit()) {
            if (round >= 50) {
                least = std::min<uint32_t>(least, wire.header().rwnd);
                most = std::max<uint32_t>(most, wire.header().rwnd);
            }
            a.receive(wire);
        }
    }
    CHECK(least > 64 + 80);
    CHECK(most <= 256); // the backlog
}

TEST_CASE("that a gap has closed is told at once")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 2);

    b.receive({flight[1]});
    REQUIRE(b.transmit().size() == 1); // tells of the gap
    b.receive({flight[0]});
    auto told = b.transmit();
    REQUIRE(told.size() == 1);
    CHECK(told[0].header().ack == 3);
    a.receive(told);
    b.receive(flight_of(a, 1)); // is not part of it
    CHECK(b.transmit().empty());
    CHECK(b.stats().messages_in == 3);
}

TEST_CASE("a loss that later packets show cuts the congestion window once")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 8);

    for (size_t i = 1; i < flight.size(); i++) {
        if (i != 2)
            b.receive({flight[i]});
    }
    a.receive(b.transmit());
    CHECK(a.stats().congestions == 1);
    CHECK(a.stats().timeouts == 0);
    CHECK(a.transmit().size() == 2);
}

TEST_CASE("what is sent again and lost again is found lost by what was sent after it")
{
    Peer a(0), b(1);

    b.receive({flight_of(a, 5)[4]});
    a.receive(b.transmit());
    REQUIRE(a.transmit().size() >= 1); // the first goes again, and is lost
    const auto later = flight_of(a, 3);
    b.receive(later);
    a.receive(b.transmit());
    auto again = a.transmit();
    REQUIRE(!again.empty());
    CHECK(again[0].header().number == 1);
    CHECK(a.stats().timeouts == 0);
}

TEST_CASE("all is idle when every rank has acknowledged what was sent to it")
{
    const uint32_t late = GENERATE(1u, 2u, 3u);
    Peer hub(0, 4);

    for (uint32_t rank = 1; rank < 4; rank++) {
        Peer other(rank, 4);

        REQUIRE(hub.send("text", rank) == 0);
        other.receive(hub.transmit());
        other.now += RELIABLE_ACK_DELAY_US;
        if (rank != late)
            hub.receive(other.transmit());
    }
    CHECK_FALSE(reliable_engine_idle(hub.engine));
    for (uint32_t rank = 1; rank < 4; rank++)
        CHECK(reliable_engine_acked(hub.engine, rank) == (rank != late));
    reliable_engine_abort(hub.engine, late);
    CHECK(reliable_engine_idle(hub.engine));
}

TEST_CASE("what comes early twice is held once")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 3);

    b.receive({flight[2], flight[1], flight[2], flight[1], flight[2]});
    CHECK(b.stats().early == 2);
    CHECK(b.stats().duplicates == 3);
    CHECK(b.stats().buffers == 2);
    b.receive({flight[0]});
    CHECK(b.messages.size() == 3);
}

TEST_CASE("what comes twice is acknowledged at once")
{
    Peer a(0), b(1);
    const auto flight = flight_of(a, 1);

    b.receive(flight);
    b.now += RELIABLE_ACK_DELAY_US;
    REQUIRE(b.transmit().size() == 1); // is lost
    b.receive(flight);
    CHECK(b.transmit().size() == 1);
    CHECK(b.messages.size() == 1);
}

// ---- what is refused -----------------------------------------------------------------

TEST_CASE("a packet is as long as a probe that was answered")
{
    Peer a(0, 2, 512), b(1);
    const std::string text(7 * (512 - 48), 'x');

    REQUIRE(a.send(text) == 0);
    auto wires = a.transmit();
    REQUIRE(wires.size() == 8);
    for (size_t i = 0; i < 7; i++)
        CHECK(wires[i].length <= 512);
    CHECK(wires[7].header().flags == RELIABLE_PACKET_PROBE);
    CHECK(wires[7].length == 1024);
    b.receive(wires);
    CHECK(b.messages == Texts{text});
    auto answers = b.transmit();
    REQUIRE(!answers.empty());
    CHECK(answers[0].header().flags == RELIABLE_PACKET_CONFIRM);
    CHECK(answers[0].header().confirmed == 1024);
    a.receive(answers);
    REQUIRE(a.send(text) == 0);
    wires = a.transmit();
    REQUIRE(!wires.empty());
    CHECK(wires[0].length == 1024);
    REQUIRE(b.send("no answer any more", 0) == 0);
    wires = b.transmit();
    REQUIRE(!wires.empty());
    CHECK(wires[0].header().flags == 0);
    CHECK(wires[0].header().confirmed == 0);
}

TEST_CASE("an answer to no probe, or beyond what our network takes, makes no packet longer")
{
    Peer a(0, 2, 512), b(1);
    const uint16_t passed = GENERATE(uint16_t{1024}, uint16_t{1025});
    const std::string text(2000, 'x');

    if (passed > 1024) { // with a probe out
        REQUIRE(a.send(text) == 0);
        a.transmit();
    }
    REQUIRE(b.send("text", 0) == 0);
    Wire wire = b.transmit().at(0);
    wire.header().flags = RELIABLE_PACKET_CONFIRM;
    wire.header().confirmed = passed;
    wire.seal();
    a.receive(wire);
    REQUIRE(a.send(text) == 0);
    auto wires = a.transmit();
    REQUIRE(!wires.empty());
    for (Wire &each : wires)
        CHECK((each.length <= 512 || each.header().flags == RELIABLE_PACKET_PROBE));
}

TEST_CASE("who is given up takes the packets along that came early, once")
{
    Peer a(0), b(1);

    for (int i = 0; i < 4; i++)
        REQUIRE(a.send(std::string(900, 'x')) == 0);
    auto wires = a.transmit();
    REQUIRE(wires.size() >= 3);
    b.receive(wires[1]);
    b.receive(wires[2]);
    CHECK(b.stats().early == 2);
    reliable_engine_abort(b.engine, 0);
    CHECK(b.engine->spares == b.stats().buffers);
} // and the end of b frees each packet once

TEST_CASE("a replayed packet is not delivered again")
{
    Peer a(0), b(1);
    std::vector<Wire> seen;

    for (int i = 0; i < 200; i++) {
        REQUIRE(a.send("once") == 0);
        for (Wire &wire : a.transmit()) {
            seen.push_back(wire);
            b.receive(wire);
        }
        b.now += 200;
        a.now += 200;
        a.receive(b.transmit());
    }
    CHECK(b.messages.size() == 200);
    for (int twice = 0; twice < 2; twice++)
        b.receive(seen);
    CHECK(b.messages.size() == 200);
    CHECK(b.stats().duplicates == 2 * seen.size());
}

// As if so many packets had come and gone, all of them.
static void skip_to(Peer &from, Peer &to, uint64_t number)
{
    reliable_connection *out = nullptr, *in = nullptr;

    for (int i = 0; i < 8; i++) {
        out = from.engine->table[i] ? from.engine->table[i] : out;
        in = to.engine->table[i] ? to.engine->table[i] : in;
    }
    REQUIRE(out->snd.una == out->snd.end);
    out->snd.una = out->snd.nxt = out->snd.end = in->rcv.nxt = number;
    out->snd.sml = out->cc.recover = 0;
}

TEST_CASE("a packet that is replayed 2^32 packets later acknowledges nothing")
{
    Peer a(0), b(1);

    b.receive(flight_of(a, 6));
    auto old = b.transmit();
    REQUIRE(old.size() == 1);
    REQUIRE(old[0].header().ack == 7);
    a.receive(old);
    skip_to(a, b, (uint64_t{1} << 32) + 2);
    flight_of(a, 5); // is lost
    a.receive(old);
    CHECK_FALSE(reliable_engine_idle(a.engine));
    CHECK(a.stats().refused[RELIABLE_REFUSED_FORGED] == 1);
    for (uint64_t end = a.now + 500000; a.now < end; a.now = b.now += 1000) {
        b.receive(a.transmit());
        a.receive(b.transmit());
    }
    CHECK(b.messages.size() == 11);
    CHECK(reliable_engine_idle(a.engine));
}

TEST_CASE("numbers go on where their low half begins anew")
{
    Peer a(0), b(1);

    REQUIRE(a.send("first") == 0);
    b.receive(a.transmit());
    b.now += RELIABLE_ACK_DELAY_US;
    a.receive(b.transmit());
    skip_to(a, b, (uint64_t{1} << 32) - 10);
    for (int i = 0; i < 20; i++) {
        REQUIRE(a.send("on") == 0);
        b.receive(a.transmit());
        b.now += RELIABLE_ACK_DELAY_US;
        a.receive(b.transmit());
    }
    CHECK(b.messages.size() == 21);
    CHECK(reliable_engine_idle(a.engine));
    CHECK(a.stats().sent_again == 0);
}

// ---- life and death --------------------------------------------------------------------

TEST_CASE("memory: a connection is below 1 KiB, a rank never talked to is nothing")
{
    reliable_engine_config config = {};
    reliable_engine *engine;

    config.ranks = 65536;
    config.packet_bytes = 1472;
    config.backlog = 256;
    config.deliver = [](void *, uint32_t, uint32_t, const void *, size_t, bool) {};
    REQUIRE(reliable_engine_open(&config, &engine) == 0);
    CHECK(reliable_engine_connection_bytes() < 1024);
    CHECK(reliable_engine_connection_bytes_max(engine) < 3500 * 1024);
    for (uint32_t rank = 0; rank < 65536; rank += 4096)
        REQUIRE(reliable_engine_send(engine, 1, rank, 0, "x", 1) == 0);

    struct reliable_engine_stats stats;
    reliable_engine_stats(engine, &stats);
    CHECK(stats.connections == 16);
    CHECK(stats.buffers == 16);
    reliable_engine_close(engine);
}

TEST_CASE("memory: what connections needed at their worst is given back")
{
    reliable_engine_config config = {};
    reliable_engine *engine;
    struct reliable_engine_stats stats;
    const std::vector<uint8_t> message(1400);

    config.ranks = 9;
    config.packet_bytes = 1472;
    config.backlog = 256;
    config.deliver = [](void *, uint32_t, uint32_t, const void *, size_t, bool) {};
    REQUIRE(reliable_engine_open(&config, &engine) == 0);
    for (uint32_t rank = 1; rank < 9; rank++)
        while (reliable_engine_send(engine, 1, rank, 0, message.data(), message.size()) == 0)
            continue;
    reliable_engine_stats(engine, &stats);
    CHECK(stats.buffers == 8 * RELIABLE_WINDOW);
    for (uint32_t rank = 1; rank < 9; rank++)
        reliable_engine_abort(engine, rank);
    reliable_engine_stats(engine, &stats);
    CHECK(stats.buffers <= 2 * RELIABLE_WINDOW + 1);
    reliable_engine_close(engine);
}

TEST_CASE("the shortest and the longest packets, and one packet of backlog, are configurations")
{
    reliable_engine_config config = {};
    reliable_engine *engine = nullptr;

    config.ranks = 65536;
    config.rank = 65535;
    config.packet_bytes =
        GENERATE(uint32_t{RELIABLE_PACKET_BYTES_MIN}, uint32_t{RELIABLE_PACKET_BYTES_MAX});
    config.backlog = 1;
    config.deliver = [](void *, uint32_t, uint32_t, const void *, size_t, bool) {};
    CHECK(reliable_engine_open(&config, &engine) == 0);
    reliable_engine_close(engine);
}

TEST_CASE("nonsensical configurations are refused")
{
    reliable_engine_config config = {};
    reliable_engine *engine = nullptr;

    config.ranks = 2;
    config.packet_bytes = 1472;
    config.backlog = 256;
    config.deliver = [](void *, uint32_t, uint32_t, const void *, size_t, bool) {};
    SECTION("no ranks")
    {
        config.ranks = 0;
    }
    SECTION("too many ranks")
    {
        config.ranks = 65537;
    }
    SECTION("a rank beyond them")
    {
        config.rank = 2;
    }
    SECTION("packets too short")
    {
        config.packet_bytes = RELIABLE_PACKET_BYTES_MIN - 1;
    }
    SECTION("packets too long")
    {
        config.packet_bytes = RELIABLE_PACKET_BYTES_MAX + 1;
    }
    SECTION("nothing can wait")
    {
        config.backlog = 0;
    }
    SECTION("nowhere to deliver to")
    {
        config.deliver = nullptr;
    }
    CHECK(reliable_engine_open(&config, &engine) == -EINVAL);
    CHECK(engine == nullptr);
}
