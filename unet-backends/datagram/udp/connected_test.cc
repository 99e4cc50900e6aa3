// SPDX-License-Identifier: BSD-3-Clause
//
// Packets past the queues.  Peers with most of the traffic have a connected socket; nothing else
// changes for anybody.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sys/socket.h>
#include <unet/unet_ni.h>

namespace {

// System calls that send, after which sockets may be connected or closed.
constexpr int EPOCH = 1024, FIRST_EPOCH = 80;

// An endpoint whose arrivals go past its queues, and which counts them by channel.
struct Attached {
    Endpoint ep;
    std::vector<int> arrived = std::vector<int>(256);
    int marked = 0;

    explicit Attached(const unet_config &config = {}) : ep(config)
    {
        ep->ops->datagrams->attach(ep, count, this);
    }
    static void count(void *arg, uint16_t channel, const void *, size_t, bool marked)
    {
        static_cast<Attached *>(arg)->arrived[channel]++;
        static_cast<Attached *>(arg)->marked += marked;
    }
    uint32_t backlog(uint32_t length) { return ep->ops->datagrams->backlog(ep, length); }
    bool send(uint16_t channel, uint32_t length = 100)
    {
        std::vector<uint8_t> bytes(UNET_PACKET_HEADROOM + length);
        const unet_packet packet = {bytes.data() + UNET_PACKET_HEADROOM, length, channel};

        return ep->ops->datagrams->send(ep, &packet, 1) == 1;
    }
};

// A center, and peers with a channel to it.
struct Star {
    Attached center;
    std::vector<std::unique_ptr<Attached>> peer;
    std::vector<uint16_t> to, from; // the peer; the center

    explicit Star(unsigned peers)
    {
        for (unsigned i = 0; i < peers; i++) {
            peer.push_back(std::make_unique<Attached>());
            to.push_back(0);
            from.push_back(0);
            join(center.ep, peer[i]->ep, 1 + i, to[i], from[i]);
        }
    }
    // Each way one packet, and nothing is lost.
    void exchange(unsigned i)
    {
        const int before = peer[i]->arrived[from[i]], back = center.arrived[to[i]];

        REQUIRE(center.send(to[i]));
        REQUIRE(eventually([&] {
            unet_progress(peer[i]->ep);
            return peer[i]->arrived[from[i]] == before + 1;
        }));
        REQUIRE(peer[i]->send(from[i]));
        REQUIRE(eventually([&] {
            unet_progress(center.ep);
            return center.arrived[to[i]] == back + 1;
        }));
    }
    void exchange(unsigned i, int times)
    {
        for (int k = 0; k < times; k++)
            exchange(i);
    }
};

uint16_t port_of(const sockaddr_in &address)
{
    return ntohs(address.sin_port);
}

uint16_t port_of(const Endpoint &ep)
{
    const struct unet_address address = ep.address();
    sockaddr_in at = {};

    std::memcpy(&at.sin_port, address.bytes + 2, sizeof(at.sin_port));
    return port_of(at);
}

// Sockets of this process at that port of ours that are connected to a peer; and to that peer.
int connected(const Endpoint &own, const Endpoint *to = nullptr)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        sockaddr_in local = {}, peer = {};
        socklen_t length = sizeof(local), peer_length = sizeof(peer);

        if (getsockname(fd, reinterpret_cast<sockaddr *>(&local), &length) < 0 ||
            local.sin_family != AF_INET || port_of(local) != port_of(own) ||
            getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &peer_length) < 0)
            continue;
        count += !to || port_of(peer) == port_of(*to);
    }
    return count;
}

bool readable(int fd, int ms)
{
    pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};

    return poll(&ready, 1, ms) == 1;
}

} // namespace

TEST_CASE("a peer with most of the traffic has a socket of its own, which goes with the endpoint")
{
    const size_t before = open_descriptors();

    {
        Star star(1);

        star.exchange(0, FIRST_EPOCH / 2);
        CHECK(connected(star.center.ep) == 0);
        star.exchange(0, FIRST_EPOCH);
        CHECK(connected(star.center.ep, &star.peer[0]->ep) == 1);
        CHECK(connected(star.peer[0]->ep, &star.center.ep) == 1);
        star.exchange(0, 100);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("queues of an endpoint that is not attached need no other socket")
{
    Pair pair;

    for (int i = 0; i < 2 * EPOCH; i++) {
        REQUIRE(send_text(pair.a, pair.ab, "hello") == 0);
        REQUIRE(text(await(pair.b)) == "hello");
    }
    CHECK(connected(pair.a) == 0);
}

TEST_CASE("sockets follow the traffic, and others are heard as before")
{
    Star star(6);

    star.exchange(0, 2 * EPOCH);
    CHECK(connected(star.center.ep, &star.peer[0]->ep) == 1);
    for (unsigned i = 1; i < 6; i++)
        star.exchange(i);
    star.exchange(1, 3 * EPOCH);
    CHECK(connected(star.center.ep, &star.peer[0]->ep) == 0);
    CHECK(connected(star.center.ep, &star.peer[1]->ep) == 1);
    for (unsigned i = 0; i < 6; i++)
        star.exchange(i, 10);
}

TEST_CASE("there are few of them, and none where all peers are alike")
{
    const unsigned peers = GENERATE(3u, 16u);
    Star star(peers);

    for (int k = 0; k < 2 * EPOCH; k++)
        star.exchange(static_cast<unsigned>(k) % peers);
    INFO(peers << " peers");
    CHECK(connected(star.center.ep) == (peers == 3 ? 3 : 0));
}

TEST_CASE("a sleeper is woken by what comes to any of the sockets")
{
    Star star(2);
    const int fd = unet_fd(star.center.ep);
    const unsigned from = GENERATE(0u, 1u);

    star.exchange(0, 2 * EPOCH);
    REQUIRE(connected(star.center.ep) == 1);
    while (unet_progress(star.center.ep) > 0)
        ;
    CHECK_FALSE(readable(fd, 0));
    REQUIRE(star.peer[from]->send(star.from[from]));
    CHECK(readable(fd, 10000));
    CHECK(unet_wait(star.center.ep, 10000) == 1);
}

TEST_CASE("no other process of the user can take the port while a socket is connected to a peer")
{
    const int on = 1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    Star star(1);
    sockaddr_in at = {};

    star.exchange(0, 2 * EPOCH);
    REQUIRE(connected(star.center.ep) == 1);
    at.sin_family = AF_INET;
    at.sin_port = htons(port_of(star.center.ep));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0);
    CHECK(bind(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)) == -1);
    CHECK(errno == EADDRINUSE);
    close(fd);
}

TEST_CASE("a channel that is closed and opened to another peer goes to that one")
{
    Star star(2);
    uint16_t again = 0, back = 0;

    star.exchange(0, 2 * EPOCH);
    REQUIRE(connected(star.center.ep, &star.peer[0]->ep) == 1);
    unet_disconnect(star.center.ep, star.to[0]);
    join(star.center.ep, star.peer[1]->ep, 100, again, back);
    REQUIRE(again == star.to[0]);
    star.from[0] = back;
    std::swap(star.peer[0], star.peer[1]);
    star.exchange(0, 10);
    CHECK(star.center.arrived[again] > 0);
}

TEST_CASE("as many packets can wait as the endpoint says")
{
    const uint32_t length = GENERATE(1000u, 1448u, 9000u, 16384u);
    Star star(1);
    const uint32_t most = star.peer[0]->backlog(length);
    const int before = star.peer[0]->arrived[star.from[0]];
    uint32_t arrived = 0;

    INFO(length << " bytes, " << most << " packets");
    REQUIRE(most > 0);
    for (uint32_t i = 0; i < most; i++)
        REQUIRE(eventually([&] { return star.center.send(star.to[0], length); }));
    eventually([&] {
        unet_progress(star.peer[0]->ep);
        arrived = static_cast<uint32_t>(star.peer[0]->arrived[star.from[0]] - before);
        return arrived == most;
    });
    CHECK(arrived == most);
}

namespace {

// Sockets of this process at that port.
std::vector<int> sockets_of(const Endpoint &ep)
{
    std::vector<int> found;

    for (int fd = 0; fd < 1024; fd++) {
        sockaddr_in local = {};
        socklen_t length = sizeof(local);

        if (getsockname(fd, reinterpret_cast<sockaddr *>(&local), &length) == 0 &&
            local.sin_family == AF_INET && port_of(local) == port_of(ep))
            found.push_back(fd);
    }
    return found;
}

// What all its packets say of congestion from now on.
void say(const Endpoint &ep, int ecn)
{
    for (const int fd : sockets_of(ep))
        REQUIRE(setsockopt(fd, IPPROTO_IP, IP_TOS, &ecn, sizeof(ecn)) == 0);
}

int said(const Endpoint &ep)
{
    int ecn = 0;
    socklen_t length = sizeof(ecn);

    REQUIRE(getsockopt(sockets_of(ep).at(0), IPPROTO_IP, IP_TOS, &ecn, &length) == 0);
    return ecn & IPTOS_ECN_MASK;
}

} // namespace

TEST_CASE("packets may be marked by the network, and a receiver of long or many tells which are")
{
    const size_t bytes = GENERATE(1200, 100);
    Star star(1);
    Attached &peer = *star.peer[0];
    const auto arrive = [&](int count) {
        const int before = peer.arrived[star.from[0]];

        for (int i = 0; i < count; i++)
            REQUIRE(star.center.send(star.to[0], bytes));
        REQUIRE(eventually([&] {
            unet_progress(peer.ep);
            return peer.arrived[star.from[0]] == before + count;
        }));
    };

    CAPTURE(bytes);
    CHECK(said(star.center.ep) == IPTOS_ECN_ECT0);
    arrive(20);
    CHECK(peer.marked == 0);
    say(star.center.ep, IPTOS_ECN_CE);
    arrive(20);
    CHECK(peer.marked == 20);
    arrive(20);
    CHECK(peer.marked == 40);
    say(star.center.ep, IPTOS_ECN_ECT0);
    arrive(20);
    CHECK(peer.marked == 40);
}
