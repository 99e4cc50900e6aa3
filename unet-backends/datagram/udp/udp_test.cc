// SPDX-License-Identifier: BSD-3-Clause
//
// What is udp's own: addresses of both families, losses that are counted, strangers on the socket.
#include "conformance/harness.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unet/unet_frame.h>
#include <unistd.h>

const Backend backend_under_test = {.name = "udp"};

namespace {

constexpr uint32_t UDP_PAYLOAD_MAX = 65507;

// For the endpoints opened in its scope.
class LocalAddress {
public:
    explicit LocalAddress(const char *text) { setenv("UNET_INTERFACE", text, 1); }
    ~LocalAddress() { unsetenv("UNET_INTERFACE"); }
    LocalAddress(const LocalAddress &) = delete;
    LocalAddress &operator=(const LocalAddress &) = delete;
};

// A socket that is no endpoint's, and sends to one.
class Stranger {
public:
    explicit Stranger(const Endpoint &victim)
    {
        const struct unet_address address = victim.address();

        to.sin_family = AF_INET;
        std::memcpy(&to.sin_port, address.bytes + 2, sizeof(to.sin_port));
        std::memcpy(&to.sin_addr, address.bytes + 8, sizeof(to.sin_addr));
        fd = socket(AF_INET, SOCK_DGRAM, 0);
        REQUIRE(fd >= 0);
    }
    ~Stranger() { close(fd); }
    Stranger(const Stranger &) = delete;
    Stranger &operator=(const Stranger &) = delete;

    void send(const void *bytes, size_t length)
    {
        REQUIRE(sendto(fd, bytes, length, 0, reinterpret_cast<sockaddr *>(&to), sizeof(to)) ==
                static_cast<ssize_t>(length));
    }

private:
    int fd;
    sockaddr_in to = {};
};

} // namespace

TEST_CASE("endpoints have IPv4 and IPv6 addresses")
{
    const char *text = GENERATE("127.0.0.1", "127.0.0.2", "::1");
    LocalAddress local(text);
    Pair pair;

    INFO("at " << text);
    REQUIRE(send_text(pair.a, pair.ab, "hello") == 0);
    CHECK(::text(await(pair.b)) == "hello");
}

TEST_CASE("an address that is none, or not ours, is refused")
{
    unet_endpoint *ep = nullptr;
    size_t before = open_descriptors();
    int error = 0;

    SECTION("none")
    {
        LocalAddress local("localhost.");
        error = -EINVAL;
        CHECK(unet_open(unet_backend("udp"), nullptr, &ep) == error);
    }
    SECTION("of another machine")
    {
        LocalAddress local("192.0.2.1");
        error = -EADDRNOTAVAIL;
        CHECK(unet_open(unet_backend("udp"), nullptr, &ep) == error);
    }
    CHECK(ep == nullptr);
    CHECK(open_descriptors() == before);
}

TEST_CASE("an endpoint of the other family cannot be reached")
{
    Endpoint a;
    LocalAddress local("::1");
    Endpoint b;
    struct unet_address to_b = b.address();
    uint16_t channel;

    CHECK(unet_connect(a, &to_b, 1, &channel) == -EADDRNOTAVAIL);
}

TEST_CASE("it says what it does not promise, and how long its packets are")
{
    Endpoint e;

    CHECK((e->capabilities & (UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_DIRECT)) == 0);
    CHECK((e->capabilities & UNET_CAP_REMOTE) != 0);
    CHECK(e->packet_bytes >= 1200);
    CHECK(e->packet_bytes <= UDP_PAYLOAD_MAX - sizeof(unet_frame));
}

TEST_CASE("what finds no slot or no buffer is lost and counted")
{
    unet_config config = {};
    config.recv_slots = 8;
    Pair pair(config);
    unet_piece piece = {0, 100};

    for (int i = 0; i < 20; i++)
        REQUIRE(send_text(pair.a, pair.ab, "x") == 0);
    REQUIRE(eventually([&] {
        unet_progress(pair.b);
        return pair.b->stats.overruns == 12;
    }));
    for (int i = 0; i < 8; i++)
        CHECK(await(pair.b).kind == UNET_INLINE);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    REQUIRE(eventually([&] {
        unet_progress(pair.b);
        return pair.b->stats.overruns == 13;
    }));
    give_buffers(pair.b, 1, 100);
    REQUIRE(unet_send(pair.a, pair.ab, 7, &piece, 1, nullptr) == 0);
    CHECK(await(pair.b).user == 7);
}

TEST_CASE("a message longer than its buffers is lost, and takes none of them")
{
    Pair pair;
    unet_piece piece = {0, 401};

    give_buffers(pair.b, 4, 100);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    REQUIRE(eventually([&] { return unet_progress(pair.b), pair.b->stats.overruns == 1; }));
    CHECK(take(pair.b).kind == UNET_EMPTY);
    piece.length--;
    REQUIRE(unet_send(pair.a, pair.ab, 7, &piece, 1, nullptr) == 0);
    CHECK(await(pair.b).length == 400);
}

TEST_CASE("many messages go with one call")
{
    Pair pair;

    for (uint32_t i = 0; i < 60; i++)
        REQUIRE(send_text(pair.a, pair.ab, "x", i) == 0);
    for (uint32_t i = 0; i < 60; i++)
        REQUIRE(await(pair.b).user == i);
}

TEST_CASE("the longest datagram arrives, a longer message is refused")
{
    Pair pair;
    const uint32_t most = UDP_PAYLOAD_MAX - sizeof(unet_frame);
    unet_piece piece = {0, most};
    Bytes sent = pattern(most, 5);

    give_buffers(pair.b, 4, 20000, 100000);
    fill(pair.a, 0, sent);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    CHECK(await(pair.b).bytes == sent);
    piece.length++;
    REQUIRE(unet_send(pair.a, pair.ab, 9, &piece, 1, nullptr) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EMSGSIZE);
    CHECK(refused.user == 9);
}

// ---- strangers ------------------------------------------------------------------------

TEST_CASE("datagrams of strangers are dropped and counted")
{
    Pair pair;
    Stranger stranger(pair.b);
    unet_frame header = {};
    uint8_t message[sizeof(header) + 4] = {};

    header.version = UNET_FRAME_VERSION;
    header.length = 4;
    header.kind = UNET_FRAME_INLINE;
    SECTION("shorter than a header")
    {
        stranger.send(&header, sizeof(header) - 1);
        CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.malformed == 1; }));
    }
    SECTION("not as long as it says")
    {
        stranger.send(&header, sizeof(header));
        CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.malformed == 1; }));
    }
    SECTION("of another version")
    {
        header.version++;
        std::memcpy(message, &header, sizeof(header));
        stranger.send(message, sizeof(message));
        CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.malformed == 1; }));
    }
    SECTION("of a kind that is none")
    {
        header.kind = 77;
        std::memcpy(message, &header, sizeof(header));
        stranger.send(message, sizeof(message));
        CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.malformed == 1; }));
    }
    SECTION("a message for an open channel, with a guessed key")
    {
        std::memcpy(message, &header, sizeof(header));
        stranger.send(message, sizeof(message));
        CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.foreign == 1; }));
    }
    SECTION("the wish to close an open channel")
    {
        header.kind = UNET_FRAME_CLOSE;
        header.length = 0;
        stranger.send(&header, sizeof(header));
        CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.foreign == 1; }));
    }
    CHECK(unet_channel_state(pair.b, pair.ba) == UNET_OPEN);
    CHECK(take(pair.b).kind == UNET_EMPTY);
    REQUIRE(send_text(pair.a, pair.ab, "unharmed") == 0);
    CHECK(text(await(pair.b)) == "unharmed");
}

TEST_CASE("any bytes are survived")
{
    Pair pair;
    Stranger stranger(pair.b);
    uint32_t seed = 1;
    uint8_t bytes[128];

    for (int i = 0; i < 2000; i++) {
        unet_frame *header = reinterpret_cast<unet_frame *>(bytes);

        for (uint8_t &byte : bytes)
            byte = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
        if (i % 2) {
            header->version = UNET_FRAME_VERSION;
            header->kind %= 8;
        }
        const size_t length = bytes[100] % sizeof(bytes);
        header->length = static_cast<uint16_t>(length - sizeof(*header));
        stranger.send(bytes, length);
        unet_progress(pair.b);
    }
    CHECK(take(pair.b).kind == UNET_EMPTY);
    CHECK(unet_channel_state(pair.b, pair.ba) == UNET_OPEN);
}
