// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol's state machine: messages into packets, and which packets go when.
#include "test/peer.h"

#include <algorithm>
#include <cerrno>

namespace {

// A rank with packets in flight, and a message that waits for more of them.
struct Waiting {
    Peer a{0}, b{1};

    Waiting()
    {
        a.engine->config.batch = BATCH;
        REQUIRE(a.send(std::string(3 * PART + 10, 'x')) == 0);
        REQUIRE(a.transmit().size() == 4);
        REQUIRE(a.send("barrier") == 0);
        REQUIRE(a.transmit().empty());
    }
};

} // namespace

TEST_CASE("a packet that waits for more messages carries an acknowledgement that is due")
{
    Waiting w;
    const auto a_receives_one = [&] {
        REQUIRE(w.b.send("from b", 0) == 0);
        w.a.receive(w.b.transmit());
    };

    reliable_engine_arriving(w.a.engine);
    a_receives_one();
    REQUIRE(w.a.send("and one") == 0);
    CHECK(w.a.transmit().empty()); // that of a single packet is not due
    a_receives_one();
    REQUIRE(w.a.send("and two") == 0);
    w.b.receive(w.a.transmit());
    CHECK(reliable_engine_acked(w.b.engine, 0));
    CHECK(w.a.stats().acks == 0);
    CHECK_FALSE(reliable_engine_lull(w.a.engine));
}

TEST_CASE("what is pushed does not wait until it is worth a call")
{
    Peer a(0);

    a.engine->config.batch = BATCH;
    REQUIRE(a.send(std::string(4 * PART, 'x')) == 0);
    REQUIRE(a.transmit().size() == 4);
    REQUIRE(a.send(std::string(3 * PART, 'y')) == 0);
    CHECK(a.transmit().empty());
    REQUIRE(a.send(std::string(PART, 'z')) == 0);
    reliable_engine_push(a.engine);
    CHECK(a.transmit().size() == 4);
}

namespace {

// A sender with 400 full packets, of which as many are on their way as its windows allow.
struct Stream {
    Peer a{0}, b{1};
    std::vector<Wire> on_way;

    Stream(uint32_t rwnd, uint32_t cwnd)
    {
        a.engine->config.batch = BATCH;
        REQUIRE(a.send("hello") == 0);
        b.receive(a.transmit());
        b.now += 100;
        a.receive(b.transmit());
        conn().snd.rwnd = rwnd;
        conn().cc.cwnd = cwnd;
        REQUIRE(a.send(std::string(400 * PART, 'x')) == 0);
        on_way = a.transmit();
        REQUIRE(on_way.size() == std::min(rwnd, cwnd));
    }
    reliable_connection &conn() { return *a.engine->heap[0]; }
    // The first ones on their way arrive and are acknowledged.  Returns how many go next.
    size_t acknowledge(size_t count)
    {
        const uint32_t rwnd = conn().snd.rwnd;

        b.receive(
            std::vector<Wire>(on_way.begin(), on_way.begin() + static_cast<ptrdiff_t>(count)));
        on_way.erase(on_way.begin(), on_way.begin() + static_cast<ptrdiff_t>(count));
        b.now += 100;
        for (Wire &wire : b.transmit()) {
            wire.header().rwnd = static_cast<uint16_t>(rwnd);
            wire.seal();
            a.receive(wire);
        }
        return a.transmit().size();
    }
};

constexpr uint32_t TRAIN = RELIABLE_TRAIN_BYTES / (PACKET + RELIABLE_HEADROOM);

} // namespace

TEST_CASE("room in the receiver's window waits until it is one for a whole train")
{
    Stream stream(3 * TRAIN, 1000);

    CHECK(stream.acknowledge(TRAIN / 2) == 0);
    CHECK(stream.acknowledge(TRAIN) == TRAIN);
    CHECK(stream.acknowledge(TRAIN) == TRAIN);
}

TEST_CASE("room in a window of less than two trains is used at once")
{
    Stream stream(2 * TRAIN - 1, 1000);

    CHECK(stream.acknowledge(TRAIN / 2) == TRAIN / 2);
}

TEST_CASE("who competes for the network uses all room at once")
{
    Stream stream(3 * TRAIN, 3 * TRAIN);

    stream.conn().cc.last_loss = 1;
    CHECK(stream.acknowledge(TRAIN / 2) == TRAIN / 2);
    stream.conn().cc.last_loss = 0;
    CHECK(stream.acknowledge(TRAIN / 2) == 0);
}

TEST_CASE("messages share packets when enough packets are on their way")
{
    Peer a(0), b(1);

    for (int i = 0; i < 100; i++) {
        REQUIRE(a.send("message " + std::to_string(i)) == 0);
        b.receive(a.transmit());
    }
    CHECK(a.stats().sent <= RELIABLE_FEW + 2); // and those that were full
    a.receive(b.transmit());
    b.receive(a.transmit());
    CHECK(b.messages.size() == 100);
    CHECK(a.stats().sent < 10);
}

TEST_CASE("a long message travels in parts")
{
    Peer a(0), b(1);
    std::string text;

    for (int i = 0; text.size() < 8192; i++)
        text += std::to_string(i);
    REQUIRE(a.send(text) == 0);
    for (int round = 0; round < 10 && b.messages.empty(); round++) {
        b.receive(a.transmit());
        a.receive(b.transmit());
    }
    CHECK(b.messages == Texts{text});
}

TEST_CASE("a message of several packets goes whole at once, unless others are on their way")
{
    Peer a(0), b(1);
    const std::string text(4 * PART - 100, 'x');

    a.engine->config.batch = BATCH;
    REQUIRE(a.send(text) == 0);
    auto wires = a.transmit();
    CHECK(wires.size() == 4);
    b.receive(wires);
    CHECK(b.messages == Texts{text});
    REQUIRE(a.send(text) == 0);
    CHECK(a.transmit().empty());
    a.receive(b.transmit());
    b.receive(a.transmit());
    CHECK(b.messages == Texts(2, text));
}

TEST_CASE("small messages wait for others only while a packet with room is on its way")
{
    Peer a(0), b(1);

    a.engine->config.batch = BATCH;
    REQUIRE(a.send(std::string(4 * PART, 'x')) == 0);
    auto full = a.transmit();
    CHECK(full.size() == 4);
    REQUIRE(a.send("behind full packets") == 0);
    auto roomy = a.transmit();
    CHECK(roomy.size() == 1);
    for (int i = 0; i < 10; i++) {
        REQUIRE(a.send("behind one with room") == 0);
        CHECK(a.transmit().empty());
    }
    b.receive(full);
    b.receive(roomy);
    a.receive(b.transmit());
    auto shared = a.transmit();
    CHECK(shared.size() == 1);
    b.receive(shared);
    CHECK(b.messages.size() == 12);
}

TEST_CASE("an acknowledgement lets packets go when no more are on their way than wait")
{
    Peer a(0), b(1);

    a.engine->config.batch = BATCH;
    REQUIRE(a.send(std::string(4 * PART + 100, 'x')) == 0);
    const auto wires = a.transmit();
    REQUIRE(wires.size() == 5);
    REQUIRE(a.send(std::string(2 * PART + 100, 'y')) == 0);
    CHECK(a.transmit().empty());
    const auto acknowledge = [&](int packet) {
        b.receive({wires[packet]});
        b.now += RELIABLE_ACK_DELAY_US;
        a.receive(b.transmit());
    };
    acknowledge(0);
    CHECK(a.transmit().empty()); // four are on their way
    acknowledge(1);
    CHECK(a.transmit().size() == 3);
}

TEST_CASE("a message that takes more than a window is refused")
{
    Peer a(0);

    CHECK(a.send(std::string(PART * RELIABLE_WINDOW + 1, 'x')) == -EMSGSIZE);
    CHECK(a.send(std::string(PART * RELIABLE_WINDOW, 'x')) == 0);
}

TEST_CASE("a full window is told to the sender and opens again")
{
    Peer a(0), b(1);
    const std::string text(PART, 'x');

    for (int i = 0; i < RELIABLE_WINDOW; i++)
        REQUIRE(a.send(text) == 0);
    CHECK(a.send(text) == -EAGAIN);
    b.receive(a.transmit());
    CHECK(a.send(text) == -EAGAIN);
    a.receive(b.transmit());
    CHECK(a.send(text) == 0);
}

// The next packet with frames.  Heartbeats pass, and times at which there is nothing to do after
// all.
