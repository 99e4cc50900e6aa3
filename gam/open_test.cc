// SPDX-License-Identifier: BSD-3-Clause
//
// open_test.cc - opening, sizes, the handler table.
#include "world.h"

#include <algorithm>
#include <reliable/reliable.h>

using namespace world;

namespace {

int self_address(void *arg, uint32_t, struct unet_address *address)
{
    unet_address(static_cast<unet_endpoint *>(arg), address);
    return 0;
}

// An endpoint for one rank, and a config that fits it.
struct Alone {
    unet_endpoint *ep = nullptr;
    gam *g = nullptr;
    gam_config config = {};

    explicit Alone(const std::string &backend,
                   const std::function<void(unet_config &)> &change = {})
    {
        unet_config endpoint = {};

        gam_endpoint_config(1, 0, &endpoint);
        if (change)
            change(endpoint);
        REQUIRE(unet_open(unet_backend(backend.c_str()), &endpoint, &ep) == 0);
        config.ranks = 1;
        config.key[0] = 1;
        config.resolve = self_address;
        config.resolve_arg = ep;
    }
    ~Alone()
    {
        gam_close(g);
        unet_close(ep);
    }
    int open() { return gam_open(ep, &config, &g); }
};

void handler_a(gam *, const gam_message *)
{
}
void handler_b(gam *, const gam_message *m)
{
    self().count[0] += m->words;
}

} // namespace

TEST_CASE("the memory of an endpoint is what docs/gam.md says")
{
    // ranks, bulk window, receive slots for the default window
    const uint32_t known[][3] = {{1, 8, 256},  {2, 8, 256},   {8, 8, 256},   {64, 8, 256},
                                 {65, 7, 128}, {128, 4, 128}, {256, 2, 128}, {16384, 2, 128}};

    for (const auto &[ranks, bulk, slots] : known) {
        unet_config config = {};

        config.polled = true;
        gam_endpoint_config(ranks, 0, &config);
        INFO("ranks " << ranks);
        CHECK(config.segment_bytes == std::max((16 + ranks * bulk + 1) * 8192, 1u << 20));
        CHECK(config.recv_slots == slots);
        CHECK(config.send_slots == 64);
        CHECK(config.channels == ranks);
        CHECK(config.free_slots >= ranks * bulk + 1);
        CHECK(config.free_slots < 2 * (ranks * bulk + 1));
        CHECK(config.polled);
    }
}

TEST_CASE("windows are wider on a network")
{
    // ranks, bulk window, receive slots
    const uint32_t known[][3] = {{2, 255, 2048}, {8, 64, 1024}, {64, 8, 1024}, {65, 7, 128}};

    for (const auto &[ranks, bulk, slots] : known) {
        unet_config config = {};

        gam_network_config(ranks, 0, &config);
        INFO("ranks " << ranks);
        CHECK(config.segment_bytes == std::max((16 + ranks * bulk + 1) * 8192, 1u << 20));
        CHECK(config.recv_slots == slots);
    }
}

TEST_CASE("the receive rings grow with the window")
{
    const uint32_t known[][2] = {{1, 32}, {32, 128}, {64, 256}, {128, 512}};

    for (const auto &[window, slots] : known) {
        unet_config config = {};

        gam_endpoint_config(2, window, &config);
        INFO("window " << window);
        CHECK(config.recv_slots == slots);
        CHECK(config.recv_slots * 3 / 4 >= 2 * (window + 8));
    }
}

TEST_CASE("gam_open refuses what is out of range")
{
    Alone a(EACH_RELIABLE_BACKEND);
    const gam_config good = a.config;

    a.config.ranks = 0;
    CHECK(a.open() == -EINVAL);
    a.config.ranks = GAM_RANKS_MAX + 1;
    CHECK(a.open() == -EINVAL);
    a.config = good;
    a.config.rank = 1;
    CHECK(a.open() == -EINVAL);
    a.config = good;
    a.config.window = 256;
    CHECK(a.open() == -EINVAL);
    a.config = good;
    a.config.resolve = nullptr;
    CHECK(a.open() == -EINVAL);
    CHECK(a.g == nullptr);
    a.config = good;
    CHECK(a.open() == 0);
}

TEST_CASE("gam_open refuses an endpoint that is too small")
{
    const std::string backend = EACH_RELIABLE_BACKEND;
    const std::vector<std::function<void(unet_config &)>> smaller = {
        [](unet_config &c) { c.segment_bytes -= 4096; },
        [](unet_config &c) { c.recv_slots /= 2; },
        [](unet_config &c) { c.free_slots /= 2; },
    };

    for (const auto &change : smaller) {
        Alone a(backend, change);

        CHECK(a.open() == -EINVAL);
    }
    Alone a(backend);
    a.config.ranks = 2; // one channel only
    CHECK(a.open() == -EINVAL);
}

TEST_CASE("an endpoint larger than needed will do")
{
    Alone a(EACH_RELIABLE_BACKEND, [](unet_config &c) {
        c.segment_bytes *= 2;
        c.recv_slots *= 2;
        c.free_slots *= 2;
        c.channels = 10;
    });

    CHECK(a.open() == 0);
}

TEST_CASE("gam_open hands on what resolve and connect say, and may be tried again")
{
    Alone a(EACH_RELIABLE_BACKEND);

    a.config.resolve = [](void *, uint32_t, struct unet_address *) { return -ENOENT; };
    CHECK(a.open() == -ENOENT);
    a.config.resolve = [](void *, uint32_t, struct unet_address *address) {
        *address = {};
        return 0;
    };
    CHECK(a.open() == -EADDRNOTAVAIL);
    CHECK(a.g == nullptr);
    a.config.resolve = self_address;
    CHECK(a.open() == 0);
}

TEST_CASE("an endpoint whose free queue is full is refused, and left without channels")
{
    Alone a("loopback");
    uint32_t given = 0;

    while (unet_free_put(a.ep, given * 64, 64) == 0)
        given++;
    REQUIRE(given == a.ep->config.free_slots);
    CHECK(a.open() == -EAGAIN);
    CHECK(a.g == nullptr);
    CHECK(unet_channel_state(a.ep, 1) == UNET_CLOSED);
}

TEST_CASE("closing nothing is allowed")
{
    gam_close(nullptr);
    SUCCEED();
}

TEST_CASE("handlers are registered once")
{
    Alone a(EACH_RELIABLE_BACKEND);

    REQUIRE(a.open() == 0);
    CHECK(gam_register(a.g, 0, handler_a) == -EINVAL);
    CHECK(gam_register(a.g, GAM_HANDLERS, handler_a) == -EINVAL);
    CHECK(gam_register(a.g, 1, nullptr) == -EINVAL);
    CHECK(gam_register(a.g, 1, handler_a) == 0);
    CHECK(gam_register(a.g, 1, handler_a) == 0);
    CHECK(gam_register(a.g, 1, handler_b) == -EEXIST);
    CHECK(gam_register(a.g, GAM_HANDLERS - 1, handler_b) == 0);
}

TEST_CASE("an instance knows its rank, and starts with nothing")
{
    run(EACH_RELIABLE_BACKEND, 3, [](Rank &r) {
        r.expect("ranks", gam_ranks(r.g), 3u);
        r.expect("rank", gam_rank(r.g), r.me);
        r.expect("dead", gam_dead_peer(r.g), -1);
        r.expect("pending", gam_pending(r.g), 0u);
        r.expect("requests", r.stats().requests, 0u);
        r.expect("handled", r.stats().handled, 0u);
    });
}

TEST_CASE("the largest window will do")
{
    Alone a("loopback", [](unet_config &c) { gam_endpoint_config(1, 255, &c); });

    a.config.window = 255;
    CHECK(a.open() == 0);
}

namespace {

void note_whom_we_serve(gam *g, const gam_message *m)
{
    self().log.push_back(m->source);
    self().note("served", gam_serving(g), static_cast<int64_t>(m->source));
}

} // namespace

TEST_CASE("while a handler runs it is known whom it serves, and otherwise nobody is served")
{
    run(EACH_RELIABLE_BACKEND, 2, [](Rank &r) {
        r.handler(1, note_whom_we_serve);
        r.barrier();
        r.expect("before", gam_serving(r.g), -1);
        for (uint32_t rank = 0; rank < 2; rank++)
            r.expect("request", gam_request_0(r.g, rank, 1), 0);
        r.until("both have come", [&] { return r.log.size() == 2; });
        r.expect("after", gam_serving(r.g), -1);
        r.barrier();
    });
}

TEST_CASE("two jobs on the same endpoints' addresses do not meet")
{
    // Two instances claim to be ranks 0 and 1, of different jobs.
    Alone a("loopback", [](unet_config &c) { gam_endpoint_config(2, 0, &c); });
    Alone b("loopback", [](unet_config &c) { gam_endpoint_config(2, 0, &c); });
    unet_endpoint *endpoints[] = {a.ep, b.ep};
    auto resolve = [](void *arg, uint32_t rank, struct unet_address *address) {
        unet_address(static_cast<unet_endpoint **>(arg)[rank], address);
        return 0;
    };

    a.config = {.ranks = 2,
                .rank = 0,
                .key = {1, 1},
                .resolve = resolve,
                .resolve_arg = endpoints,
                .window = 0,
                .network = nullptr};
    b.config = {.ranks = 2,
                .rank = 1,
                .key = {1, 2},
                .resolve = resolve,
                .resolve_arg = endpoints,
                .window = 0,
                .network = nullptr};
    REQUIRE(a.open() == 0);
    REQUIRE(b.open() == 0);
    for (int i = 0; i < 100; i++) {
        gam_poll(a.g);
        gam_poll(b.g);
    }
    for (uint16_t channel = 1; channel <= 2; channel++) {
        INFO("channel " << channel << ": only the one to itself opens");
        CHECK((unet_channel_state(a.ep, channel) == UNET_OPEN) == (channel == 1));
        CHECK((unet_channel_state(b.ep, channel) == UNET_OPEN) == (channel == 2));
    }
}

TEST_CASE("an endpoint that may lose messages is refused")
{
    Alone a("udp");

    CHECK(a.open() == -EOPNOTSUPP);
}

namespace {

// A reliable endpoint over udp, of a job of two ranks.
unet_endpoint *network_of_two(uint32_t rank, uint32_t peer_timeout_ms)
{
    const reliable_config config = {2, rank, {1, 0}, peer_timeout_ms, RELIABLE_AUTH_FULL, 0, 0};
    unet_endpoint *lower, *ep;
    unet_config sizes = {};

    reliable_lower_config(2, &sizes);
    REQUIRE(unet_open(unet_backend("udp"), &sizes, &lower) == 0);
    gam_network_config(2, 0, &sizes);
    REQUIRE(reliable_open(lower, &config, &sizes, &ep) == 0);
    return ep;
}

} // namespace

TEST_CASE("a peer that never answers, from the start, is dead after the peer timeout")
{
    // At the second one's address nobody opens a channel.
    unet_endpoint *endpoints[] = {network_of_two(0, 200), network_of_two(1, 200)};
    gam_config config = {};
    gam *g = nullptr;

    config.ranks = 2;
    config.key[0] = 1;
    config.resolve = [](void *arg, uint32_t rank, struct unet_address *address) {
        unet_address(static_cast<unet_endpoint **>(arg)[rank], address);
        return 0;
    };
    config.resolve_arg = endpoints;
    REQUIRE(gam_open(endpoints[0], &config, &g) == 0);
    if (GENERATE(true, false))
        CHECK(gam_request_0(g, 1, 1) == -EPIPE);
    else
        CHECK(gam_wait(g, 10000) == -EPIPE);
    CHECK(gam_dead_peer(g) == 1);
    CHECK(gam_settled(g));
    gam_close(g);
    for (unet_endpoint *one : endpoints)
        unet_close(one);
}
