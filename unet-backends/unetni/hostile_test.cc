// SPDX-License-Identifier: BSD-3-Clause
//
// Attacks on the service: by messages, by the memory that it shares, by frames; each with the
// refusal it has to meet.  The kernel module's are in tests/kernel; those that apply are here.
#include "unetni/harness.h"
#include "unetni/raw.h"

#include "conformance/process.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

using namespace std::chrono;

namespace {

void need_wires()
{
    if (!enter_wires()) {
        std::puts("\nnot run: services need root, or user namespaces, and the command ip");
        std::exit(0);
    }
}

// A service on lo with these options more, and two clients with a channel between them.
struct OnLo {
    explicit OnLo(const unet_fe_create &wish = small()) : service(start()), a(path()), b(path())
    {
        REQUIRE(a.create(wish) == 0);
        REQUIRE(b.create(wish) == 0);
        open_both(a, b);
    }

    static std::vector<std::string> start()
    {
        need_wires();
        return Service::at("lo");
    }
    std::string path() const { return service.path(); }
    bool serves() const
    {
        Raw one(path());
        return one.create() == 0;
    }

    Service service;
    Raw a, b;
};

bool reaches(const Raw &ep, unet_fe_counter which, uint64_t value)
{
    return eventually([&] { return ep.counter(which) >= value; }) && ep.counter(which) == value;
}

} // namespace

// ---- messages ----------------------------------------------------------------------------

TEST_CASE("create: what cannot be")
{
    need_wires();
    Service service(Service::at("lo"));
    const auto answer = [&](const std::function<void(unet_fe_create &)> &spoil) {
        Raw one(service.path());
        unet_fe_create wish = small();

        spoil(wish);
        const int error = one.create(wish);
        CHECK(eventually([&] { return one.ended(); })); // one attempt for each connection
        return error;
    };

    CHECK(answer([](auto &w) { w.version++; }) == -EPROTO);
    CHECK(answer([](auto &w) { std::memset(w.interface, 'x', sizeof w.interface); }) == -EINVAL);
    CHECK(answer([](auto &w) { std::strcpy(w.interface, "unet0"); }) == -ENODEV);
    CHECK(answer([](auto &w) { w.port = 40000; }) == -EACCES);
    CHECK(answer([](auto &w) { w.segment_bytes = 0; }) == -EINVAL);
    CHECK(answer([](auto &w) { w.segment_bytes = 5000; }) == -EINVAL);
    CHECK(answer([](auto &w) { w.segment_bytes = 0xfffff000; }) == -EDQUOT);
    CHECK(answer([](auto &w) { w.send_slots = 2; }) == -EINVAL);
    CHECK(answer([](auto &w) { w.recv_slots = 17; }) == -EINVAL);
    CHECK(answer([](auto &w) { w.free_slots = 131072; }) == -EINVAL);
    CHECK(answer([](auto &w) { w.channels = 0; }) == -EINVAL);
    CHECK(answer([](auto &w) { w.channels = 65536; }) == -EINVAL);
    CHECK(answer([](auto &w) {
              w.channels = 65535;
              w.recv_slots = 65536;
          }) == -EDQUOT);
    Raw twice(service.path());
    CHECK(twice.create() == 0);
    CHECK(twice.create() == -EBUSY);
}

TEST_CASE("messages: before the creation, unknown, too short, too long, with files")
{
    OnLo lo;
    const std::vector<char> bytes(4096);

    for (unsigned long command : {UNET_FE_CONNECT, 0ul + UNET_FE_DISCONNECT, 0ul + UNET_FE_SEND})
        CHECK(Raw(lo.path()).ask(static_cast<uint32_t>(command), 1) == -ENOTCONN);
    for (uint32_t command : {0u, 1u, static_cast<uint32_t>(UNET_FE_EXPORT),
                             static_cast<uint32_t>(UNET_FE_GRANT), UINT32_MAX})
        CHECK(lo.a.ask(command, 1) == -EOPNOTSUPP);
    for (size_t length : {size_t{1}, sizeof(unet_service_message) - 1,
                          sizeof(unet_service_message) + 1, size_t{4096}}) {
        Raw one(lo.path());

        REQUIRE(one.create() == 0);
        REQUIRE(one.send(bytes.data(), length));
        CHECK(eventually([&] { return one.ended(); }));
    }
    CHECK(lo.serves());
}

TEST_CASE("connect: what cannot be")
{
    OnLo lo;
    const unet_fe_connect good = request_for(lo.b.layout, 200, 33);
    const auto spoilt = [&](const std::function<void(unet_fe_connect &)> &spoil) {
        unet_fe_connect request = good;

        spoil(request);
        return lo.a.connect(request);
    };

    CHECK(spoilt([](auto &r) { r.port = 0; }) == -EADDRNOTAVAIL);
    CHECK(spoilt([](auto &r) { std::memset(r.mac, 0xff, 6); }) == -EADDRNOTAVAIL);
    CHECK(spoilt([](auto &r) { r.mac[0] = 1; }) == -EADDRNOTAVAIL);
    CHECK(spoilt([](auto &r) { r.mac[5] ^= 1; }) == -EADDRNOTAVAIL); // not on lo
    CHECK(spoilt([](auto &r) { r.life = 0; }) == -EINVAL);
    CHECK(lo.a.connect(good) == 2);
    CHECK(lo.a.connect(good) == -EEXIST);
    CHECK(lo.a.connect(request_for(lo.b.layout, 201, 33)) == 3);
    CHECK(lo.a.connect(request_for(lo.b.layout, 202, 33)) == 4);
    CHECK(lo.a.connect(request_for(lo.b.layout, 203, 33)) == -ENOSPC);
}

TEST_CASE("connect over UDP: groups, broadcasts and nobody")
{
    need_wires();
    Service service({"--interface", "lo", "--wire", "udp", "--mode", "666"});
    Raw one(service.path());

    REQUIRE(one.create() == 0);
    for (const auto &place : {std::array<uint8_t, 6>{224, 0, 0, 1, 1, 1},
                              {255, 255, 255, 255, 1, 1},
                              {0, 0, 0, 0, 1, 1},
                              {127, 0, 0, 1, 0, 0}}) {
        unet_fe_connect request = request_for(one.layout, 200, 33);

        std::memcpy(request.mac, place.data(), place.size());
        CHECK(one.connect(request) == -EADDRNOTAVAIL);
    }
}

TEST_CASE("disconnect and tell: wild numbers, and twice")
{
    OnLo lo;

    for (uint64_t n : {uint64_t{0}, uint64_t{2}, uint64_t{5}, uint64_t{65536 + 1}, UINT64_MAX}) {
        lo.a.tell(n);
        CHECK(lo.a.ask(UNET_FE_DISCONNECT, n) == -EINVAL);
    }
    CHECK(lo.a.ask(UNET_FE_DISCONNECT, 1) == 0);
    CHECK(lo.a.ask(UNET_FE_DISCONNECT, 1) == -EINVAL);
    CHECK(eventually([&] { return lo.b.state(1) == UNET_DEAD; }));
}

TEST_CASE("answers that nobody reads end their connection, and nobody else's")
{
    OnLo lo;
    Raw deaf(lo.path());
    unet_service_message question = {};

    REQUIRE(deaf.create() == 0);
    question.command = UNET_FE_DISCONNECT;
    while (deaf.send(&question, sizeof question))
        ;
    CHECK((errno == EPIPE || errno == ECONNRESET));
    CHECK(lo.serves());
}

// ---- memory ------------------------------------------------------------------------------

TEST_CASE("the area cannot be made shorter, longer or unsealed")
{
    OnLo lo;

    CHECK(ftruncate(lo.a.memory, 4096) == -1);
    CHECK(errno == EPERM);
    CHECK(ftruncate(lo.a.memory, static_cast<off_t>(lo.a.layout.area_bytes + 4096)) == -1);
    CHECK(fcntl(lo.a.memory, F_ADD_SEALS, F_SEAL_WRITE) == -1);
    CHECK(fallocate(lo.a.memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    static_cast<off_t>(lo.a.layout.area_bytes)) == 0);
    lo.b.push(inline_desc(1, "into the hole"));
    CHECK(reaches(lo.b, UNET_FE_SENT, 1));
    CHECK(lo.serves());
}

TEST_CASE("new memory holds nothing of anybody")
{
    OnLo lo;

    for (int i = 0; i < 4; i++) {
        Raw one(lo.path());

        REQUIRE(one.create() == 0);
        CHECK(std::all_of(one.segment(), one.segment() + one.layout.segment_bytes,
                          [](uint8_t byte) { return byte == 0; }));
        std::memset(one.segment(), 0xa5, one.layout.segment_bytes);
    }
}

TEST_CASE("states and counters overwritten are shown, not believed")
{
    OnLo lo;

    lo.b.shared()->state[1] = UNET_CLOSED;
    std::memset(lo.b.shared()->counter, 0xff, sizeof lo.b.shared()->counter);
    lo.a.push(inline_desc(1, "all the same"));
    CHECK(lo.b.next(1).length == 12);
    CHECK(lo.b.counter(UNET_FE_RECEIVED) == 1);
    lo.a.shared()->state[2] = UNET_OPEN;
    lo.a.push(inline_desc(2, "closed"));
    CHECK(lo.a.error() == ENOTCONN);
}

// Sends until the receiver has no more room; how many it had.
static uint64_t sends_until_overrun(OnLo &lo, const unet_desc &desc)
{
    for (uint64_t i = 1; lo.b.counter(UNET_FE_OVERRUNS) == 0; i++) {
        lo.a.push(desc);
        REQUIRE(reaches(lo.a, UNET_FE_SENT, i));
        REQUIRE(i < 1000);
    }
    return lo.b.counter(UNET_FE_RECEIVED);
}

TEST_CASE("receive ring: a consumer that claims to be ahead")
{
    OnLo lo;

    lo.b.in(1)->consumed = 1u << 31;
    CHECK(sends_until_overrun(lo, inline_desc(1, "x")) == 16);
}

TEST_CASE("receive ring: slots filled by their consumer")
{
    OnLo lo;

    for (unsigned i = 0; i < 16; i++)
        std::memset(&lo.b.in(1)->slot[i], 0xff, sizeof(unet_desc));
    lo.a.push(inline_desc(1, "right"));
    const unet_desc got = lo.b.next(1);
    CHECK(got.kind == UNET_INLINE);
    CHECK(got.length == 5);
    CHECK(got.channel == 1);
}

TEST_CASE("free queue: buffers outside the segment")
{
    OnLo lo;
    const uint32_t end = lo.b.layout.segment_bytes;
    const unet_piece bad[] = {{end, 1},         {end - 1, 2},    {0, end + 1},
                              {UINT32_MAX, 1},  {1, UINT32_MAX}, {UINT32_MAX, UINT32_MAX},
                              {0x80000000, 64}, {0, 0},          {end, 0}};

    for (const unet_piece &piece : bad)
        lo.b.give(piece.offset, piece.length);
    lo.b.give(128, 64);
    std::memset(lo.a.segment(), 0x44, 64);
    lo.a.push(pieces_desc(1, {{0, 64}}));
    CHECK(lo.b.next(1).piece[0].offset == 128);
    CHECK(lo.b.counter(UNET_FE_BAD_BUFFERS) == std::size(bad));
    CHECK(lo.b.segment()[128] == 0x44);
}

TEST_CASE("free queue: so much nonsense that others would wait for it")
{
    unet_fe_create wish = small();
    wish.free_slots = 1024;
    OnLo lo(wish);

    for (int i = 0; i < 1000; i++)
        lo.b.give(UINT32_MAX, UINT32_MAX);
    lo.b.give(128, 64);
    for (uint64_t frames = 1; frames <= 15; frames++) { // each looks at 64
        lo.a.push(pieces_desc(1, {{0, 64}}));
        CHECK(reaches(lo.b, UNET_FE_OVERRUNS, frames));
        CHECK(lo.b.counter(UNET_FE_BAD_BUFFERS) == 64 * frames);
    }
    lo.a.push(pieces_desc(1, {{0, 64}}));
    CHECK(lo.b.next(1).length == 64);
}

TEST_CASE("free queue: buffers of one byte for a long message")
{
    OnLo lo;

    for (uint32_t i = 0; i < 16; i++)
        lo.b.give(i, 1);
    lo.a.push(pieces_desc(1, {{0, 5}}));
    CHECK(reaches(lo.b, UNET_FE_OVERRUNS, 1));
    lo.a.push(pieces_desc(1, {{0, 4}}));
    CHECK(lo.b.next(1).pieces == 4);
}

TEST_CASE("send: descriptors that cannot be are refused, and send nothing")
{
    OnLo lo;
    const uint32_t end = lo.a.layout.segment_bytes, most = lo.a.layout.packet_bytes;
    const auto refusal = [&](const std::function<void(unet_desc &)> &spoil) {
        unet_desc desc = pieces_desc(1, {{0, 100}});

        spoil(desc);
        lo.a.push(desc);
        return lo.a.error();
    };

    for (int kind : {0, 3, 4, 5, 128, 255})
        CHECK(refusal([=](auto &d) { d.kind = static_cast<uint8_t>(kind); }) == EINVAL);
    for (int channel : {0, 2, 4, 5, 65535})
        CHECK(refusal([=](auto &d) { d.channel = static_cast<uint16_t>(channel); }) == ENOTCONN);
    for (uint32_t length : {49u, 65536u, UINT32_MAX})
        CHECK(refusal([=](auto &d) {
                  d.kind = UNET_INLINE;
                  d.length = length;
              }) == EMSGSIZE);
    for (int pieces : {0, 5, 255})
        CHECK(refusal([=](auto &d) { d.pieces = static_cast<uint8_t>(pieces); }) == EINVAL);
    for (const unet_piece &piece :
         {unet_piece{end, 100}, unet_piece{end - 99, 100}, unet_piece{UINT32_MAX, 100},
          unet_piece{0, UINT32_MAX}, unet_piece{UINT32_MAX - 99, 100}})
        CHECK(refusal([=](auto &d) { d.piece[0] = piece; }) == EFAULT);
    for (uint32_t length : {0u, 99u, 101u, UINT32_MAX})
        CHECK(refusal([=](auto &d) { d.length = length; }) == EINVAL);
    CHECK(refusal([](auto &d) { d.piece[0].length = d.length = 0; }) == EINVAL);
    if (most < end)
        CHECK(refusal([=](auto &d) { d.piece[0].length = d.length = most + 1; }) == EMSGSIZE);
    CHECK(lo.a.counter(UNET_FE_SENT) == 0);
    CHECK(lo.b.counter(UNET_FE_RECEIVED) + lo.b.counter(UNET_FE_OVERRUNS) == 0);
}

TEST_CASE("send: turns from laps to come, and completions that nobody reads")
{
    OnLo lo;
    unet_ring_shared *ring = lo.a.ring(lo.a.layout.send);

    for (uint32_t i = 1; i < 16; i++)
        ring->slot[i].turn = 16 + i + 1;
    lo.a.push(inline_desc(1, "one"));
    CHECK(lo.b.next(1).length == 3);
    CHECK(lo.a.counter(UNET_FE_SENT) == 1);
    for (uint64_t i = 1; i <= 40; i++) {
        lo.a.push(inline_desc(9, "nowhere"));
        CHECK(reaches(lo.a, UNET_FE_BAD_DESCRIPTORS, i));
    }
    CHECK(lo.a.counter(UNET_FE_ERRORS_LOST) == 40 - 16);
    CHECK(lo.serves());
}

TEST_CASE("the bell: full, and made to block")
{
    OnLo lo;

    for (int one : lo.b.bell)
        REQUIRE(fcntl(one, F_SETFL, 0) == 0);
    lo.b.give(0, 4096);
    for (uint64_t i = 1; i <= 70000; i++) { // more than a pipe holds
        lo.b.shared()->armed = static_cast<uint32_t>(i << 2) | UNET_NONEMPTY;
        lo.a.push(inline_desc(1, "ring"));
        lo.b.next(1);
    }
    CHECK(lo.serves());
}

TEST_CASE("the bell: nobody is there who could hear it")
{
    OnLo lo;

    for (int &one : lo.b.bell) {
        close(one);
        one = -1;
    }
    lo.b.shared()->armed = 1 << 2 | UNET_NONEMPTY;
    lo.a.push(inline_desc(1, "ring"));
    CHECK(lo.b.next(1).length == 4);
    CHECK(lo.serves());
}

// ---- frames ------------------------------------------------------------------------------

namespace {

// Two services joined by a wire, a client of each with a channel between them, and a stranger who
// sends as the first one's machine does.
struct Wired {
    Wired() : one(start()), other(Service::at("unet1")), a(one.path()), b(other.path())
    {
        REQUIRE(a.create() == 0);
        REQUIRE(b.create() == 0);
        open_both(a, b);
        to.sll_family = AF_PACKET;
        to.sll_protocol = htons(UNET_ETHERTYPE);
        to.sll_ifindex = static_cast<int>(if_nametoindex("unet0"));
        to.sll_halen = 6;
        std::memcpy(to.sll_addr, b.layout.mac, 6);
        fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        REQUIRE(fd >= 0);
    }
    ~Wired() { close(fd); }
    Wired(const Wired &) = delete;
    Wired &operator=(const Wired &) = delete;

    static std::vector<std::string> start()
    {
        need_wires();
        return Service::at("unet0");
    }

    // A good message from a to b; open_both says with which keys.
    unet_frame good() const
    {
        unet_frame frame = {};

        frame.version = UNET_FRAME_VERSION;
        frame.kind = UNET_FRAME_INLINE;
        frame.length = 4;
        frame.to_port = b.layout.port;
        frame.from_port = a.layout.port;
        frame.key = 200;
        frame.life = 22;
        return frame;
    }

    void send(const unet_frame &frame, size_t length = sizeof(unet_frame) + 64)
    {
        uint8_t bytes[4096] = {};

        std::memcpy(bytes, &frame, sizeof frame);
        REQUIRE(sendto(fd, bytes, length, 0, reinterpret_cast<sockaddr *>(&to), sizeof to) ==
                static_cast<ssize_t>(length));
    }

    // What the forged frame does to b: it is counted there, and nothing else happens.
    void expect(unet_fe_counter counter, const std::function<void(unet_frame &)> &spoil,
                size_t length = sizeof(unet_frame) + 64)
    {
        const uint64_t before = b.counter(counter), received = b.counter(UNET_FE_RECEIVED);
        unet_frame frame = good();

        spoil(frame);
        send(frame, length);
        CHECK(reaches(b, counter, before + 1));
        CHECK(b.counter(UNET_FE_RECEIVED) == received);
        CHECK(b.state(1) == UNET_OPEN);
        CHECK(a.state(1) == UNET_OPEN);
    }

    Service one, other;
    Raw a, b;
    sockaddr_ll to = {};
    int fd;
};

} // namespace

TEST_CASE("frames: the one that the forged ones are made of is good")
{
    Wired wired;

    wired.send(wired.good());
    CHECK(wired.b.next(1).length == 4);
}

TEST_CASE("frames: those that contradict themselves")
{
    Wired wired;
    const auto malformed = [&](const std::function<void(unet_frame &)> &spoil) {
        wired.expect(UNET_FE_MALFORMED, spoil);
    };

    malformed([](auto &f) { f.version = 2; });
    malformed([](auto &f) { f.length = 65; }); // longer than the frame
    malformed([](auto &f) { f.length = 49; }); // than a descriptor
    malformed([](auto &f) {
        f.kind = UNET_FRAME_PIECES;
        f.length = 65;
    });
    malformed([](auto &f) { f.length = 65535; });
    for (int kind : {0, UNET_FRAME_DIRECT + 0, 9, 255})
        malformed([=](auto &f) { f.kind = static_cast<uint8_t>(kind); });
    malformed([](auto &f) {
        f.kind = UNET_FRAME_PIECES;
        f.length = 0;
    });
    for (int kind = UNET_FRAME_OPEN; kind <= UNET_FRAME_GONE; kind++)
        malformed([=](auto &f) { f.kind = static_cast<uint8_t>(kind); });
    for (size_t length = 0; length < sizeof(unet_frame); length++)
        wired.send(wired.good(), length);
    wired.send(wired.good());
    CHECK(wired.b.next(1).length == 4);
}

TEST_CASE("frames: of no channel, not its peer's, or of an earlier conversation")
{
    Wired wired;
    const auto foreign = [&](const std::function<void(unet_frame &)> &spoil) {
        wired.expect(UNET_FE_FOREIGN, spoil);
    };
    const auto control = [&](int kind, uint64_t key, uint32_t life, uint32_t user) {
        foreign([=](auto &f) {
            f.kind = static_cast<uint8_t>(kind);
            f.length = 0;
            f.key = key;
            f.life = life;
            f.user = user;
        });
    };

    foreign([](auto &f) { f.key++; });
    foreign([](auto &f) { f.from_port ^= 1; });
    foreign([](auto &f) { f.life++; });
    control(UNET_FRAME_CLOSE, 200, 22, 12);  // another life of the peer's
    control(UNET_FRAME_CLOSE, 203, 22, 11);  // another key
    control(UNET_FRAME_OPENED, 200, 23, 11); // another life of ours
    control(UNET_FRAME_GONE, 200, 1, 11);    // the key is ours to say: 201
    control(UNET_FRAME_GONE, 201, 2, 11);    // another channel
    control(UNET_FRAME_GONE, 201, 65535, 11);
    control(UNET_FRAME_GONE, 201, 1, 12);
    wired.expect(UNET_FE_EARLY, [](auto &f) {
        f.kind = UNET_FRAME_OPEN;
        f.length = 0;
        f.key = 1;
    });
}

TEST_CASE("frames: from another machine's address")
{
    Wired wired;

    REQUIRE(std::system("ip link set unet0 address 02:00:00:00:00:77") == 0);
    wired.send(wired.good());
    CHECK(eventually([&] { return wired.b.counter(UNET_FE_FOREIGN) > 0; }));
    CHECK(wired.b.counter(UNET_FE_RECEIVED) == 0);
    CHECK(wired.b.state(1) == UNET_OPEN);
}

TEST_CASE("frames: questions after strangers are answered, but not without end")
{
    Wired wired;
    const auto start = steady_clock::now();
    unet_frame question = wired.good();
    unsigned answers = 0;

    question.kind = UNET_FRAME_ALIVE;
    question.length = 0;
    question.key = 12345;
    question.user = 9;
    for (uint64_t i = 1; i <= 3000; i++) {
        wired.send(question);
        if (i % 100 == 0) // no more than the ring of arrivals holds
            REQUIRE(reaches(wired.b, UNET_FE_FOREIGN, i));
    }
    const auto seconds = duration_cast<std::chrono::seconds>(steady_clock::now() - start).count();
    // They came back to a, whose channels they are not.
    CHECK(eventually([&] { return wired.a.counter(UNET_FE_FOREIGN) > 0; }));
    wired.send(wired.good());
    wired.b.next(1); // what was answered before is on the wire
    answers = static_cast<unsigned>(wired.a.counter(UNET_FE_FOREIGN));
    CHECK(answers <= 1000u * static_cast<unsigned>(seconds + 2));
    if (seconds < 2) // or it may have answered all
        CHECK(answers < 3000);
}

TEST_CASE("frames: who has ended is said to be gone to who asks")
{
    Wired wired;
    const uint16_t port = wired.b.layout.port;
    unet_frame question = wired.good();

    {
        Raw last(wired.other.path());
        REQUIRE(last.create() == 0);
        question.to_port = last.layout.port;
    }
    CHECK(port != question.to_port);
    question.kind = UNET_FRAME_ALIVE;
    question.length = 0;
    CHECK(eventually([&] {
        wired.send(question);
        return wired.a.counter(UNET_FE_FOREIGN) > 0;
    }));
}

// ---- everything at once ------------------------------------------------------------------

namespace {

// Random bytes over all that the client shares, random messages, and endpoints that come and go.
bool scribble(const std::string &path, uint32_t seed, steady_clock::time_point end)
{
    std::mt19937_64 random(seed);

    while (steady_clock::now() < end) {
        unet_fe_create wish = small();
        wish.send_slots = 4u << random() % 8;
        Raw ep(path);
        if (ep.create(wish) != 0)
            return false;
        for (uint32_t n = 1; n <= 2; n++) // to itself and to somebody's port
            ep.connect(request_for(ep.layout, n, 2 * n + 1));
        for (int i = 0; i < 20000 && steady_clock::now() < end; i++) {
            uint64_t *word =
                reinterpret_cast<uint64_t *>(ep.area) + random() % (ep.layout.segment / 8);
            unet_desc desc = pieces_desc(static_cast<uint16_t>(1 + random() % 2), {{0, 100}});
            unet_service_message message = {};

            __atomic_store_n(word, random(), __ATOMIC_RELAXED);
            if (random() % 2)
                reinterpret_cast<uint8_t *>(&desc)[random() % sizeof desc] =
                    static_cast<uint8_t>(random());
            ep.give(static_cast<uint32_t>(random() % 32768),
                    static_cast<uint32_t>(random() % 32768));
            if (random() % 8 == 0) {
                const uint32_t commands[] = {UNET_FE_TELL, UNET_FE_SEND, UNET_FE_CONNECT,
                                             UNET_FE_DISCONNECT, static_cast<uint32_t>(random())};
                message.command = commands[random() % 5];
                message.channel = random() % 6;
                send(ep.fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
                while (recv(ep.fd, &message, sizeof message, MSG_DONTWAIT) > 0)
                    ;
            }
            if (ep.ended())
                break;
            unet_ring_shared *ring = ep.ring(ep.layout.send);
            for (uint32_t k = 0; k < wish.send_slots; k++) // all filled, of any lap
                __atomic_store_n(&ring->slot[k].turn, static_cast<uint32_t>(i * 4 + k),
                                 __ATOMIC_RELAXED);
            std::memcpy(&ring->slot[random() % wish.send_slots].channel, &desc.channel, 60);
        }
    }
    return true;
}

void beside_a_hostile_client(seconds time, uint32_t seed)
{
    need_wires();
    Service one(Service::at("unet0")), other(Service::at("unet1"));
    const auto end = steady_clock::now() + time;
    const std::string path = one.path();
    Child hostile([&] {
        if (getuid() == 0)
            become_nobody(); // another user
        return scribble(path, seed, end);
    });
    uint32_t messages = 0;

    use(one);
    Endpoint a, b;
    use(other);
    Endpoint c;
    uint16_t ab, ba, ac, ca;
    join(a, b, 1, ab, ba);
    join(a, c, 2, ac, ca);
    give_buffers(b, 8, 2048);
    give_buffers(c, 8, 2048);
    for (; steady_clock::now() < end; messages++) {
        const uint32_t length = 60 + messages % 1300;
        const unet_piece piece = {16384, length};
        const Bytes bytes = pattern(length, messages);

        fill(a, 16384, bytes);
        REQUIRE(unet_send(a, ab, messages, &piece, 1, nullptr) == 0);
        REQUIRE(unet_send(a, ac, messages, &piece, 1, nullptr) == 0);
        for (unet_endpoint *to :
             {static_cast<unet_endpoint *>(b), static_cast<unet_endpoint *>(c)}) {
            const Message m = await(to, 2048);
            REQUIRE(m.user == messages);
            REQUIRE(m.bytes == bytes);
        }
    }
    CHECK(messages > 10);
    CHECK(a->stats.bad_descriptors + b->stats.overruns + c->stats.overruns == 0);
    CHECK(hostile.wait() == 0);
    Raw after(path);
    CHECK(after.create() == 0);
}

} // namespace

TEST_CASE("a client that writes nonsense everywhere harms nobody else")
{
    beside_a_hostile_client(seconds(2), 1);
}

TEST_CASE("a client that writes nonsense everywhere harms nobody else, for a minute", "[long]")
{
    beside_a_hostile_client(seconds(60), 2);
}
