// SPDX-License-Identifier: BSD-3-Clause
//
// Packets of which something is wrong: by accident, or because somebody made them so.
#include "test/peer.h"

#include <sys/mman.h>

TEST_CASE("packets are refused, and counted, for each reason")
{
    Peer a(0, 3), b(1, 3);
    reliable_refusal reason = RELIABLE_REFUSALS;
    Wire wire;

    REQUIRE(a.send("text") == 0);
    wire = a.transmit().at(0);
    SECTION("shorter than a header")
    {
        wire.length = sizeof(reliable_packet) - 1;
        reason = RELIABLE_REFUSED_SHORT;
    }
    SECTION("cut off")
    {
        wire.length -= 1;
        reason = RELIABLE_REFUSED_SHORT;
    }
    SECTION("of another version")
    {
        wire.header().version++;
        wire.seal();
        reason = RELIABLE_REFUSED_VERSION;
    }
    SECTION("with the number of a question that it does not ask")
    {
        wire.header().flags = 1 << RELIABLE_PACKET_ASKED;
        wire.seal();
        reason = RELIABLE_REFUSED_VERSION;
    }
    SECTION("answering a probe of no length")
    {
        wire.header().flags = RELIABLE_PACKET_CONFIRM;
        wire.header().confirmed = 0;
        wire.seal();
        reason = RELIABLE_REFUSED_VERSION;
    }
    SECTION("telling of arrivals in words that are none")
    {
        wire.words.assign((sizeof(reliable_packet) + 8 * 16) / 8, 0); // nor as many
        wire.length = sizeof(reliable_packet) + GENERATE(7u, 9u, 8u * 16);
        wire.header().version = RELIABLE_PACKET_VERSION;
        wire.header().dest = 1;
        wire.header().ack = 1;
        wire.header().length = static_cast<uint16_t>(wire.length - sizeof(reliable_packet));
        wire.seal();
        reason = RELIABLE_REFUSED_MALFORMED;
    }
    SECTION("a probe with a number")
    {
        wire.header().flags = RELIABLE_PACKET_PROBE;
        wire.seal();
        reason = RELIABLE_REFUSED_MALFORMED;
    }
    SECTION("for another rank")
    {
        wire.header().dest = 2;
        wire.seal();
        reason = RELIABLE_REFUSED_STRANGER;
    }
    SECTION("from a rank that does not exist")
    {
        wire.header().source = 3;
        wire.seal();
        reason = RELIABLE_REFUSED_STRANGER;
    }
    SECTION("with a bit of its text flipped")
    {
        wire.bytes()[wire.length - 1] ^= 1;
        reason = RELIABLE_REFUSED_FORGED;
    }
    SECTION("with another hash")
    {
        wire.header().mac ^= 1;
        reason = RELIABLE_REFUSED_FORGED;
    }
    SECTION("a frame longer than the packet")
    {
        reinterpret_cast<reliable_frame *>(&wire.header() + 1)->length++;
        wire.seal();
        reason = RELIABLE_REFUSED_MALFORMED;
    }
    SECTION("frames without a number")
    {
        wire.header().number = 0;
        wire.seal();
        reason = RELIABLE_REFUSED_MALFORMED;
    }
    SECTION("beyond the window")
    {
        wire.header().number = 1 + RELIABLE_WINDOW;
        wire.seal();
        reason = RELIABLE_REFUSED_FUTURE;
    }
    SECTION("acknowledging what was never sent")
    {
        wire.header().ack = 2;
        wire.seal();
        reason = RELIABLE_REFUSED_FUTURE;
    }
    b.receive(wire);
    CHECK(b.messages.empty());
    REQUIRE(reason != RELIABLE_REFUSALS);
    for (int i = 0; i < RELIABLE_REFUSALS; i++) {
        INFO("reason " << i);
        CHECK(b.stats().refused[i] == (i == reason));
    }
}

TEST_CASE("every bit of a packet's hash counts")
{
    Peer a(0), b(1);

    REQUIRE(a.send("text") == 0);
    Wire wire = a.transmit().at(0);
    for (int bit = 0; bit < 64; bit++) {
        Wire forged = wire;

        forged.header().mac ^= uint64_t{1} << bit;
        b.receive(forged);
        CHECK(b.stats().refused[RELIABLE_REFUSED_FORGED] == static_cast<uint64_t>(bit) + 1);
    }
    CHECK(b.messages.empty());
    b.receive(wire);
    CHECK(b.messages == Texts{"text"});
}

// The second packet of a peer, which comes first.
static Wire early_of(Wire wire, size_t length)
{
    wire.words.resize(length / 8);
    wire.length = length;
    wire.header().number = 2;
    wire.header().length = static_cast<uint16_t>(length - sizeof(reliable_packet));
    reinterpret_cast<reliable_frame *>(&wire.header() + 1)->length =
        static_cast<uint16_t>(wire.header().length - sizeof(reliable_frame));
    wire.seal();
    return wire;
}

TEST_CASE("a packet that comes early is kept only if it is no longer than ours may be")
{
    const size_t length = GENERATE(size_t{PACKET}, size_t{PACKET + 8}, size_t{65528});
    Peer a(0), b(1);

    REQUIRE(a.send("first") == 0);
    Wire first = a.transmit().at(0);
    Wire early = early_of(first, length);
    b.receive(early);
    auto acks = b.transmit();
    REQUIRE(acks.size() == 1);
    INFO("of " << length << " bytes");
    CHECK(acks[0].header().selected == (length == PACKET ? 1 : 0));
    b.receive(first);
    CHECK(b.messages.size() == (length == PACKET ? 2 : 1));
}

TEST_CASE("what has not been sent cannot be acknowledged, and goes all the same")
{
    Peer a(0), b(1);

    for (const char *text : {"is lost", "is lost, too"}) {
        REQUIRE(a.send(text) == 0);
        REQUIRE(a.transmit().size() == 1);
    }
    REQUIRE(a.send("waits") == 0);
    REQUIRE(a.transmit().empty());
    REQUIRE(b.send("text", 0) == 0);
    Wire wire = b.transmit().at(0);
    SECTION("in order")
    {
        wire.header().ack = 4;
        wire.seal();
        a.receive(wire);
        CHECK(a.stats().refused[RELIABLE_REFUSED_FUTURE] == 1);
    }
    SECTION("out of order")
    {
        wire.header().selected = ~uint64_t{1}; // bit 0: the second, which was sent
        wire.seal();
        a.receive(wire);
    }
    for (int rounds = 0; rounds < 1000; rounds++) {
        a.now = b.now += 1000;
        b.receive(a.transmit());
        a.receive(b.transmit());
    }
    CHECK(b.messages == Texts{"is lost", "is lost, too", "waits"});
    CHECK(a.stats().buffers <= 3);
}

// The end of a page behind which nothing can be read.
class LastBytes {
public:
    LastBytes()
        : page_(mmap(nullptr, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {
        REQUIRE(page_ != MAP_FAILED);
        REQUIRE(mprotect(static_cast<uint8_t *>(page_) + PAGE, PAGE, PROT_NONE) == 0);
    }
    ~LastBytes() { munmap(page_, 2 * PAGE); }
    LastBytes(const LastBytes &) = delete;
    LastBytes &operator=(const LastBytes &) = delete;

    void *put(Wire &wire)
    {
        return std::memcpy(static_cast<uint8_t *>(page_) + PAGE - wire.length, wire.bytes(),
                           wire.length);
    }

private:
    static constexpr size_t PAGE = 65536;
    void *page_;
};

TEST_CASE("nothing is read behind the end of a packet, whatever its frames say")
{
    const uint16_t length = GENERATE(uint16_t{0}, uint16_t{1}, uint16_t{7}, uint16_t{9},
                                     uint16_t{16}, uint16_t{1000}, uint16_t{65535});
    Peer a(0), b(1);
    LastBytes end;

    REQUIRE(a.send("8 bytes.") == 0);
    Wire wire = a.transmit().at(0);
    REQUIRE(wire.length % 8 == 0);
    reinterpret_cast<reliable_frame *>(&wire.header() + 1)->length = length;
    wire.seal();
    INFO("a frame of " << length << " bytes where there are 8");
    reliable_engine_receive(b.engine, b.now, end.put(wire), wire.length);
    CHECK(b.messages.empty());
    CHECK(b.stats().refused[RELIABLE_REFUSED_MALFORMED] == 1);
}

TEST_CASE("strangers make no connection")
{
    Peer b(1);
    Wire wire;

    wire.words.resize(16, 0x0123456789abcdef);
    wire.length = 128;
    for (int i = 0; i < 1000; i++) {
        wire.words[i % 16] = wire.words[i % 16] * 6364136223846793005u + 1;
        b.receive(wire);
    }
    CHECK(b.stats().received == 1000);
    CHECK(b.stats().connections == 0);
}
