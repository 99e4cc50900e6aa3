// SPDX-License-Identifier: BSD-3-Clause
//
// Attacks from the network: frames that nobody's module would send.
#include "raw.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <random>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

// Sends whole frames on an interface.
class Wire {
public:
    explicit Wire(const char *interface = "lo")
        : fd(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(UNET_ETHERTYPE)))
    {
        REQUIRE(fd >= 0);
        to.sll_family = AF_PACKET;
        to.sll_protocol = htons(UNET_ETHERTYPE);
        to.sll_ifindex = static_cast<int>(if_nametoindex(interface));
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&to), sizeof(to)) == 0);
    }

    void send(const std::vector<uint8_t> &frame)
    {
        REQUIRE(sendto(fd, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr *>(&to),
                       sizeof(to)) == static_cast<ssize_t>(frame.size()));
    }

private:
    File fd;
    sockaddr_ll to = {};
};

struct Forged {
    uint8_t to[6] = {};
    uint8_t from[6] = {};
    uint16_t type = UNET_ETHERTYPE;
    unet_frame header = {};
    std::vector<uint8_t> message;

    std::vector<uint8_t> bytes() const
    {
        const uint8_t ethertype[2] = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type)};
        std::vector<uint8_t> all(to, to + 6);

        all.insert(all.end(), from, from + 6);
        all.insert(all.end(), ethertype, ethertype + 2);
        const uint8_t *start = reinterpret_cast<const uint8_t *>(&header);
        all.insert(all.end(), start, start + sizeof(header));
        all.insert(all.end(), message.begin(), message.end());
        return all;
    }
};

// A good message from a to b, as a's module would send it.
Forged good(const RawPair &pair)
{
    Forged frame;

    frame.header.version = UNET_FRAME_VERSION;
    frame.header.kind = UNET_FRAME_INLINE;
    frame.header.length = 4;
    frame.header.to_port = pair.b.layout.port;
    frame.header.from_port = pair.a.layout.port;
    frame.header.key = pair.to_b.key_out;
    frame.header.life = pair.to_a.life;
    frame.message = {'a', 'b', 'c', 'd'};
    return frame;
}

// What the forged frame does to b: it is counted there, and nothing is received.
void expect(unet_fe_counter counter, const std::function<void(Forged &)> &spoil)
{
    RawPair pair;
    Forged frame = good(pair);
    Wire wire;

    spoil(frame);
    wire.send(frame.bytes());
    CHECK(wait_for(pair.b, counter, 1) == 1);
    CHECK(pair.b.counter(UNET_FE_RECEIVED) == 0);
    CHECK(pair.b.next(1).kind == UNET_EMPTY);
    CHECK(pair.b.shared()->state[1] == 2);
    CHECK(pair.a.shared()->state[1] == 2);
}

long interface_count(const char *name)
{
    return std::stol("0" + text_of(std::string("/sys/class/misc/unet/interfaces/lo/") + name));
}

// The same, of the interface's counters: the frame finds no endpoint.
void expect_lost(const char *counter, const std::function<void(Forged &)> &spoil)
{
    RawPair pair;
    Forged frame = good(pair);
    Wire wire;

    spoil(frame);
    const long before = interface_count(counter);
    wire.send(frame.bytes());
    wire.send(good(pair).bytes());
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(interface_count(counter) == before + 1);
}

} // namespace

TEST_CASE("frame: the one that the forged ones are made of is good")
{
    RawPair pair;
    Wire wire;

    wire.send(good(pair).bytes());
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(std::memcmp(pair.b.next(1).data, "abcd", 4) == 0);
}

TEST_CASE("frame: cut off within its header")
{
    RawPair pair;
    Wire wire;
    const std::vector<uint8_t> whole = good(pair).bytes();
    const long before = interface_count("unreadable");

    for (size_t bytes = 14; bytes < 14 + sizeof(unet_frame); bytes++)
        wire.send(std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<long>(bytes)));
    wire.send(whole);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(interface_count("unreadable") == before + static_cast<long>(sizeof(unet_frame)));
}

TEST_CASE("frame: shorter than it says")
{
    expect_lost("unreadable", [](Forged &f) { f.header.length = 5; });
    expect_lost("unreadable", [](Forged &f) { f.header.length = 65535; });
}

TEST_CASE("frame: of another version")
{
    const int version = GENERATE(0, 2, 255);

    expect_lost("unreadable", [=](Forged &f) { f.header.version = static_cast<uint8_t>(version); });
}

TEST_CASE("frame: to a port that nobody has")
{
    expect_lost("strange", [](Forged &f) { f.header.to_port = 1; });
}

TEST_CASE("frame: to everybody")
{
    expect_lost("strange", [](Forged &f) { std::memset(f.to, 0xff, 6); });
}

TEST_CASE("frame: to a group")
{
    expect_lost("strange", [](Forged &f) { std::memcpy(f.to, "\x01\x00\x5e\x00\x00\x01", 6); });
}

TEST_CASE("frame: to another machine")
{
    expect_lost("strange", [](Forged &f) { std::memcpy(f.to, "\x02\x00\x00\x00\x00\x09", 6); });
}

TEST_CASE("frame: of kinds that are none")
{
    const int kind = GENERATE(0, 8, 255);

    expect(UNET_FE_MALFORMED, [=](Forged &f) { f.header.kind = static_cast<uint8_t>(kind); });
}

TEST_CASE("frame: an inline message longer than a descriptor")
{
    expect(UNET_FE_MALFORMED, [](Forged &f) {
        f.message.resize(UNET_INLINE_MAX + 1);
        f.header.length = UNET_INLINE_MAX + 1;
    });
}

TEST_CASE("frame: an empty message for buffers")
{
    expect(UNET_FE_MALFORMED, [](Forged &f) {
        f.header.kind = UNET_FRAME_PIECES;
        f.header.length = 0;
    });
}

TEST_CASE("frame: an opening with a message")
{
    expect(UNET_FE_MALFORMED, [](Forged &f) { f.header.kind = UNET_FRAME_OPEN; });
}

TEST_CASE("frame: with a wrong key")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) { f.header.key ^= 1; });
}

TEST_CASE("frame: from another port")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) { f.header.from_port ^= 1; });
}

TEST_CASE("frame: from another machine")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) { f.from[5] = 9; });
}

TEST_CASE("frame: of an earlier conversation")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) { f.header.life ^= 1; });
}

static void control(Forged &f, uint8_t kind)
{
    f.header.kind = kind;
    f.header.length = 0;
    f.message.clear();
}

TEST_CASE("frame: an answer to an opening that was not ours")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) {
        control(f, UNET_FRAME_OPENED);
        f.header.life = 99;
    });
}

TEST_CASE("frame: a closing of an earlier conversation")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) {
        control(f, UNET_FRAME_CLOSE);
        f.header.life = 99;
    });
}

TEST_CASE("frame: the news of a death, with a wrong key, channel or life")
{
    expect(UNET_FE_FOREIGN, [](Forged &f) {
        control(f, UNET_FRAME_GONE);
        f.header.life = 1;
        f.header.user = 11;
        f.header.key ^= 1;
    });
    expect(UNET_FE_FOREIGN, [](Forged &f) {
        control(f, UNET_FRAME_GONE);
        f.header.life = 0xffffffff;
        f.header.user = 11;
    });
    expect(UNET_FE_FOREIGN, [](Forged &f) {
        control(f, UNET_FRAME_GONE);
        f.header.life = 1;
        f.header.user = 99;
    });
}

TEST_CASE("frame: a closing by who did not open")
{
    RawPair pair;
    Wire wire;
    Forged frame = good(pair);

    control(frame, UNET_FRAME_CLOSE);
    frame.header.user = 99;
    wire.send(frame.bytes());
    wire.send(good(pair).bytes());
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.shared()->state[1] == 2);
}

TEST_CASE("frame: with a VLAN's tag")
{
    expect_lost("strange", [](Forged &f) {
        const std::vector<uint8_t> whole = f.bytes();

        f.type = ETH_P_8021Q;
        // The tag, and then the frame's own type, stand where its header began.
        std::vector<uint8_t> inner = {0x00, 0x05, UNET_ETHERTYPE >> 8, UNET_ETHERTYPE & 0xff};
        inner.insert(inner.end(), whole.begin() + 14, whole.end());
        std::memcpy(&f.header, inner.data(), sizeof(f.header));
        f.message.assign(inner.begin() + sizeof(f.header), inner.end());
    });
}

TEST_CASE("frame: questions after strangers are answered, but not without end")
{
    RawPair pair;
    Wire wire;
    Forged frame = good(pair);

    control(frame, UNET_FRAME_ALIVE);
    frame.header.key ^= 1;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 5000; i++)
        wire.send(frame.bytes());
    CHECK(wait_for(pair.b, UNET_FE_FOREIGN, 5000) == 5000);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    // They do not fit anything that a has, so they are counted there.
    const uint64_t answers = wait_for(pair.a, UNET_FE_FOREIGN, 1);
    CHECK(answers >= 1);
    CHECK(static_cast<double>(answers) <= 1000 * (seconds.count() + 2));
}

TEST_CASE("frame: a burst")
{
    RawPair pair;
    Wire wire;

    for (int i = 0; i < 10000; i++)
        wire.send(good(pair).bytes());
    wait_for(pair.b, UNET_FE_OVERRUNS, 10000 - 16);
    CHECK(pair.b.counter(UNET_FE_RECEIVED) == 16);
    CHECK(pair.b.counter(UNET_FE_OVERRUNS) == 10000 - 16);
}

TEST_CASE("frame: giants")
{
    RawPair pair;
    Wire wire;
    Forged frame = good(pair);

    frame.header.kind = UNET_FRAME_PIECES;
    frame.header.length = 60000;
    frame.message.resize(60000);
    for (uint32_t i = 0; i < 16; i++)
        pair.b.give(0, 15000);
    wire.send(frame.bytes());
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.next(1).pieces == 4);
    pair.b.give(0, 14999);
}

TEST_CASE("frame: random bytes")
{
    RawPair pair;
    Wire wire;
    std::mt19937 random(5);

    for (int i = 0; i < 5000; i++) {
        std::vector<uint8_t> bytes = good(pair).bytes();

        for (int n = 1 + static_cast<int>(random() % 4); n > 0; n--)
            bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
        bytes.resize(14 + random() % (bytes.size() - 13));
        bytes[12] = UNET_ETHERTYPE >> 8;
        bytes[13] = UNET_ETHERTYPE & 0xff;
        wire.send(bytes);
        while (pair.b.next(1).kind != UNET_EMPTY) {
        }
    }
    const uint64_t before = pair.b.counter(UNET_FE_RECEIVED);
    wire.send(good(pair).bytes());
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, before + 1) >= before + 1);
}

// ---- direct access -------------------------------------------------------------------

namespace {

// A frame for 4 bytes at that place.
Forged direct(const RawPair &pair, uint64_t place, uint64_t key)
{
    Forged frame = good(pair);
    const unet_frame_direct header = {place, key};
    const uint8_t *start = reinterpret_cast<const uint8_t *>(&header);

    frame.header.kind = UNET_FRAME_DIRECT;
    frame.header.length = sizeof(header) + 4;
    frame.message.insert(frame.message.begin(), start, start + sizeof(header));
    return frame;
}

// Memory of b's that it grants.
struct Ground {
    explicit Ground(const Raw &owner) : ep(owner)
    {
        unet_fe_export range = {reinterpret_cast<uint64_t>(at), 4096, 0, 0};
        unet_fe_pin first = {1, 1, 0};

        REQUIRE(at != MAP_FAILED);
        REQUIRE(ioctl_of(ep.fd, UNET_FE_EXPORT, &range) == 0);
        REQUIRE(ioctl_of(ep.fd, UNET_FE_PIN, &first) == 0);
    }
    ~Ground() { munmap(at, 4096); }
    Ground(const Ground &) = delete;
    Ground &operator=(const Ground &) = delete;

    uint64_t grant() const
    {
        unet_fe_grant request = {1, 0, UNET_PLACE(1, 0), 100, 0};

        REQUIRE(ioctl_of(ep.fd, UNET_FE_GRANT, &request) == 0);
        return request.key;
    }
    void revoke(uint64_t key) const { REQUIRE(ioctl_of(ep.fd, UNET_FE_REVOKE, &key) == 0); }

    const Raw &ep;
    char *const at = static_cast<char *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

} // namespace

TEST_CASE("frame: direct, too short to name a place and a grant")
{
    const uint16_t length = GENERATE(0, 1, 8, 15, 16);
    expect(UNET_FE_MALFORMED, [&](Forged &frame) {
        frame.header.kind = UNET_FRAME_DIRECT;
        frame.header.length = length;
        frame.message.assign(length, 1);
    });
}

TEST_CASE("frame: direct, to an endpoint that has granted nothing")
{
    expect(UNET_FE_REFUSED, [](Forged &frame) {
        frame.header.kind = UNET_FRAME_DIRECT;
        frame.header.length = 20;
        frame.message.assign(20, 0);
        frame.message[6] = 1; // of range 1, which is not there either
    });
}

TEST_CASE(
    "frame: direct, delayed until its transfer was sent again, or the memory given to another")
{
    RawPair pair;
    Wire wire;
    const Ground ground(pair.b);
    const uint64_t first = ground.grant();
    const std::vector<uint8_t> piece = direct(pair, UNET_PLACE(1, 10), first).bytes();

    wire.send(piece);
    CHECK(wait_for(pair.b, UNET_FE_DIRECT, 1) == 1);
    CHECK(std::memcmp(ground.at + 10, "abcd", 4) == 0);
    ground.revoke(first);
    std::memset(ground.at, 0, 100);
    wire.send(piece); // once more, after it has landed
    CHECK(wait_for(pair.b, UNET_FE_REFUSED, 1) == 1);
    const uint64_t second = ground.grant();
    wire.send(piece);
    CHECK(wait_for(pair.b, UNET_FE_REFUSED, 2) == 2);
    CHECK(ground.at[10] == 0);
    wire.send(direct(pair, UNET_PLACE(1, 10), second).bytes());
    CHECK(wait_for(pair.b, UNET_FE_DIRECT, 2) == 2);
    CHECK(ground.at[10] == 'a');
}

TEST_CASE("frame: direct, from another address than the channel's, or to an earlier opening")
{
    RawPair pair;
    Wire wire;
    const Ground ground(pair.b);
    const uint64_t key = ground.grant();
    Forged frame = direct(pair, UNET_PLACE(1, 10), key);

    frame.from[5] ^= 1;
    wire.send(frame.bytes());
    CHECK(wait_for(pair.b, UNET_FE_FOREIGN, 1) == 1);
    frame.from[5] ^= 1;
    frame.header.life++;
    wire.send(frame.bytes());
    CHECK(wait_for(pair.b, UNET_FE_FOREIGN, 2) == 2);
    CHECK(ground.at[10] == 0);
}

TEST_CASE("frame: direct, keys that are guessed")
{
    RawPair pair;
    Wire wire;
    const Ground ground(pair.b);
    const uint64_t key = ground.grant();

    for (unsigned bit = 0; bit < 64; bit++)
        wire.send(direct(pair, UNET_PLACE(1, 10), key ^ uint64_t{1} << bit).bytes());
    CHECK(wait_for(pair.b, UNET_FE_REFUSED, 64) == 64);
    CHECK(ground.at[10] == 0);
}
