// SPDX-License-Identifier: BSD-3-Clause
//
// Fairness, looked at from inside: a service in this process, whose turns the test counts.
#include "unetni/raw.h"
#include "unetni/unetni.h"

#include "conformance/process.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <netinet/in.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace {

// A service on lo over UDP, and a socket there that takes what it sends, and loses it.
class Inside {
public:
    Inside()
    {
        char name[] = "/tmp/unetni-inside-XXXXXX";

        if (!enter_network()) {
            std::puts("\nnot run: needs root, or user namespaces, and the command ip");
            std::exit(0);
        }
        REQUIRE(mkdtemp(name));
        folder = name;
        std::filesystem::permissions(folder, std::filesystem::perms(0755));
        unetni_service_init(&s);
        s.limits = {1000, 1000, 1u << 30, 0};
        s.spin_ns = 3600000000000; // clients of a test do not ring: none is put to sleep before
        s.wire.ops = &unetni_udp_wire;
        std::strcpy(s.wire.interface, "lo");
        sigset_t none;
        sigemptyset(&none);
        s.signals = signalfd(-1, &none, SFD_CLOEXEC);
        REQUIRE(unetni_udp_wire.open(&s.wire) == 0);
        REQUIRE(unetni_service_listen(&s, path().c_str(), 0666, static_cast<gid_t>(-1)) == 0);
        open_sink();
    }
    ~Inside()
    {
        clients.clear();
        unetni_service_close(&s);
        close(sink);
        close(s.signals);
        std::filesystem::remove_all(folder);
    }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

    std::string path() const { return folder / "socket"; }

    // A client with a channel to the sink, made by that user.
    unetni_endpoint *add(uid_t user)
    {
        const auto turn = [this] { unetni_service_turn(&s); };

        REQUIRE(seteuid(user) == 0);
        clients.push_back(std::make_unique<Raw>(path(), turn));
        REQUIRE(seteuid(0) == 0);
        Raw &raw = *clients.back();
        unet_fe_create wish = small(), peer = {};
        wish.send_slots = 1024;
        REQUIRE(raw.create(wish) == 0);
        std::memcpy(peer.mac, place, sizeof place);
        peer.port = 40000;
        REQUIRE(raw.connect(request_for(peer, clients.size(), 11)) == 1);
        unetni_endpoint *ep = s.port[raw.layout.port];
        ep->channel[1].state = UNET_OPEN;
        return ep;
    }

    // `count` messages of `length` bytes into the i-th one's queue.
    void fill(size_t i, uint32_t count, uint32_t length)
    {
        for (uint32_t k = 0; k < count; k++)
            clients[i]->push(pieces_desc(1, {{0, length}}));
    }

    unetni_service s{};
    std::vector<std::unique_ptr<Raw>> clients;

private:
    void open_sink()
    {
        sockaddr_in at = {};
        socklen_t length = sizeof at;

        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sink = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        REQUIRE(bind(sink, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0);
        REQUIRE(getsockname(sink, reinterpret_cast<sockaddr *>(&at), &length) == 0);
        std::memcpy(place, &at.sin_addr, 4);
        std::memcpy(place + 4, &at.sin_port, 2);
    }

    std::filesystem::path folder;
    uint8_t place[6];
    int sink = -1;
};

// Bytes that the wire carried for it.
uint64_t carried(const unetni_endpoint *ep)
{
    return ep->counter[UNET_FE_SENT_BYTES] + 38 * ep->counter[UNET_FE_SENT];
}

constexpr uint64_t FRAME = 1500;

} // namespace

TEST_CASE("64 endpoints with full queues are served by bytes, whatever their messages' lengths")
{
    Inside inside;
    std::vector<unetni_endpoint *> eps;
    const uint32_t lengths[] = {80, 200, 700, 1400};

    for (unsigned i = 0; i < 64; i++)
        eps.push_back(inside.add(0));
    for (size_t i = 0; i < eps.size(); i++)
        inside.fill(i, 1000, lengths[i % 4]);
    uint64_t most = 0;
    for (int round = 0; round < 100; round++) {
        uint64_t least = UINT64_MAX;

        most = 0;
        unetni_schedule_round(&inside.s);
        for (size_t i = 0; i < eps.size(); i++) {
            least = std::min(least, carried(eps[i]));
            most = std::max(most, carried(eps[i]));
        }
        REQUIRE(most - least <= UNETNI_ENDPOINT_QUANTUM + 2 * FRAME);
    }
    CHECK(most > 4 * UNETNI_ENDPOINT_QUANTUM);
}

TEST_CASE("a user with many endpoints gets no more than one who has a single one")
{
    Inside inside;
    std::vector<unetni_endpoint *> many;
    uint64_t of_many = 0;

    if (getuid() != 0 || seteuid(65534) != 0 || seteuid(0) != 0) {
        std::puts("\nleft out: there is no other user here");
        return;
    }
    unetni_endpoint *one = inside.add(65534);
    for (int i = 0; i < 8; i++)
        many.push_back(inside.add(0));
    for (size_t i = 0; i < inside.clients.size(); i++)
        inside.fill(i, 1000, 1000);
    for (int round = 0; round < 10; round++) {
        unetni_schedule_round(&inside.s);
        of_many = 0;
        for (const auto *ep : many)
            of_many += carried(ep);
        const uint64_t of_one = carried(one);
        REQUIRE(std::max(of_one, of_many) - std::min(of_one, of_many) <=
                UNETNI_USER_QUANTUM + 2 * FRAME);
    }
    CHECK(of_many > 4 * UNETNI_USER_QUANTUM);
}

TEST_CASE("who has nothing to send keeps no credit")
{
    Inside inside;
    unetni_endpoint *ep = inside.add(0);

    inside.fill(0, 1, 100);

    for (int round = 0; round < 100; round++)
        unetni_schedule_round(&inside.s);
    CHECK(carried(ep) == 138);
    CHECK(ep->deficit <= 0);
    CHECK(ep->user->deficit <= 0);
}

TEST_CASE("questions after peers count as what they cost the wire")
{
    Inside inside;
    unetni_endpoint *ep = inside.add(0);

    unetni_schedule_round(&inside.s);
    const int64_t before = ep->deficit;
    for (int i = 0; i < 100; i++)
        unetni_channel_tell(&inside.s, ep, 1);
    CHECK(ep->deficit <= before - 100 * 60);
}

TEST_CASE("a user sends no more than his rate, all of it in the end, and others are not held up")
{
    Inside inside;
    constexpr uint64_t rate = 4000000, all = 1000 * 1038;

    inside.s.limits.rate = rate;
    inside.s.now_ns = unetni_now_ns();
    const uint64_t start = inside.s.now_ns;
    unetni_endpoint *ep = inside.add(0);
    inside.fill(0, 1000, 1000);
    uint64_t had = 0;
    while (had < all && unetni_now_ns() - start < 20000000000u) {
        unetni_service_turn(&inside.s);
        had = carried(ep);
        const double seconds = double(inside.s.now_ns - start) / 1e9;
        REQUIRE(double(had) <= double(rate) * seconds + double(UNETNI_USER_QUANTUM + 2 * FRAME));
    }
    CHECK(had == all);
    inside.s.now_ns = unetni_now_ns();
    unetni_schedule_round(&inside.s);
    inside.fill(0, 100, 1000);
    ep->user->tokens = -int64_t(60 * rate); // a minute's, which the rest of this does not take
    ep->user->token_ns = inside.s.now_ns;
    CHECK(unetni_schedule_round(&inside.s) == 0);
    CHECK(inside.s.throttled);
    if (seteuid(65534) != 0 || seteuid(0) != 0)
        return;
    unetni_endpoint *other = inside.add(65534);
    inside.fill(1, 10, 1000);
    other->user->tokens = UNETNI_BURST;
    CHECK(unetni_schedule_round(&inside.s) == 10);
    CHECK_FALSE(inside.s.throttled);
}
