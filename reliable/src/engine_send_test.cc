// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol's state machine: messages into packets, and which packets go when.
#include "test/peer.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <random>
#include <sys/uio.h>

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

bool append(Peer &peer, const std::string &text)
{
    const iovec iov[] = {
        {const_cast<char *>(text.data()), text.size() / 2},
        {const_cast<char *>(text.data()) + text.size() / 2, text.size() - text.size() / 2}};

    return reliable_engine_append(peer.engine, 1, 0, iov, 2);
}

// A peer gets the packet that has been on its way for longest, if there is one.
void take(std::deque<Wire> &on_way, Peer &peer)
{
    if (on_way.empty())
        return;
    peer.receive(on_way.front());
    on_way.pop_front();
}

} // namespace

TEST_CASE("a message joins a packet that waits, if that goes on waiting")
{
    Peer idle{0};
    Waiting w;

    CHECK_FALSE(append(idle, "nobody was sent anything"));
    REQUIRE(idle.send("hello") == 0);
    CHECK_FALSE(append(idle, "goes at once"));
    CHECK(append(w.a, "joins"));
    CHECK(w.a.transmit().empty());
    CHECK_FALSE(append(w.a, std::string(PART - 30, 'x'))); // would fill it
    CHECK(w.a.stats().messages_out == 3);

    reliable_engine_arriving(w.a.engine);
    for (int i = 0; i < 2; i++) {
        REQUIRE(w.b.send("from b", 0) == 0);
        w.a.receive(w.b.transmit());
    }
    CHECK_FALSE(append(w.a, "an acknowledgement is due"));
    CHECK(w.a.transmit().size() == 1);
    reliable_engine_abort(w.a.engine, 1);
    CHECK_FALSE(append(w.a, "nobody is there"));
}

TEST_CASE("a message joins no packet that an acknowledgement has just let go")
{
    Peer a{0}, b{1};

    a.engine->config.batch = BATCH;
    REQUIRE(a.send("not full") == 0);
    std::vector<Wire> not_full = a.transmit();

    REQUIRE(a.send(std::string(6 * PART, 'x')) == 0);
    reliable_engine_push(a.engine);
    REQUIRE(a.transmit().size() == 6);
    REQUIRE(a.send("waits") == 0);
    REQUIRE(a.transmit().empty());
    CHECK(append(a, "joins"));
    b.receive(not_full);
    b.now += 1000;
    a.receive(b.transmit());
    CHECK_FALSE(append(a, "goes"));
    CHECK(a.transmit().size() == 1);
}

TEST_CASE("whatever is on its way, nothing is to be sent when a message has joined a packet")
{
    const unsigned seed = GENERATE(range(1u, 41u));
    std::mt19937 random(seed);
    Peer a{0}, b{1};
    std::deque<Wire> to_b, to_a;
    std::vector<std::string> sent;
    unsigned joined = 0;
    const auto transmit = [&] {
        for (Wire &wire : a.transmit())
            to_b.push_back(wire);
        for (Wire &wire : b.transmit())
            to_a.push_back(wire);
    };

    CAPTURE(seed);
    a.engine->config.batch = BATCH;
    for (int step = 0; step < 4000; step++) {
        const std::string text(random() % 8 ? random() % 60 : random() % (3 * PART),
                               static_cast<char>('a' + step % 26));
        const unsigned what = random() % 8;

        a.now = b.now += random() % 20;
        transmit(); // what is due at this time
        if (what < 5 && append(a, text)) {
            REQUIRE(a.transmit().empty());
            sent.push_back(text);
            joined++;
        } else if (what < 5 && a.send(text) == 0) {
            sent.push_back(text);
        } else if (what == 5) {
            take(to_a, a);
        } else if (what == 6) {
            take(to_b, b);
        } else {
            CHECK(b.send("answer", 0) == 0);
        }
        transmit();
    }
    for (int i = 0; i < 100000 && b.messages.size() < sent.size(); i++) {
        a.now = b.now += 20;
        take(to_a, a);
        take(to_b, b);
        transmit();
    }
    CHECK(b.messages == sent);
    CHECK(joined > 20);
}

TEST_CASE("no message joins a packet while something else has to go")
{
    const unsigned seed = GENERATE(range(1u, 41u));
    const unsigned loss = GENERATE(0u, 5u); // percent
    std::mt19937 random(seed);
    Peer a{0}, b{1};
    std::deque<Wire> to_b, to_a;
    unsigned joined = 0;

    CAPTURE(seed, loss);
    a.engine->config.batch = BATCH;
    for (int step = 0; step < 4000; step++) {
        const std::string text(random() % 8 ? random() % 60 : random() % (3 * PART), 'a');
        const unsigned what = random() % 4;

        a.now = b.now += random() % 20;
        for (Wire &wire : a.transmit()) {
            if (random() % 100 >= loss)
                to_b.push_back(wire);
        }
        for (Wire &wire : b.transmit())
            to_a.push_back(wire);
        if (what == 1)
            take(to_b, b);
        else if (what == 2)
            take(to_a, a);
        else if (what == 3)
            CHECK(b.send("answer", 0) == 0);
        if (append(a, text)) {
            REQUIRE(a.transmit().empty());
            joined++;
        } else {
            a.send(text);
        }
    }
    CHECK(joined > 20);
}

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
