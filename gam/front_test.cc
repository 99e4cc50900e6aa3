// SPDX-License-Identifier: BSD-3-Clause
//
// front_test.cc - the endpoint in front of one that may lose messages: its queues and its packets.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <gam/gam.h>
#include <sstream>
#include <string>
#include <thread>
#include <unet/unet.h>
#include <unet/unet_chaos.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "src/link.h"
#include "src/reliable_state.h"
}

namespace {

using Clock = std::chrono::steady_clock;

uint64_t handled;

void on_message(gam *, const gam_message *)
{
    handled++;
}

// Ranks of one thread that have to acknowledge: their network promises nothing.
struct Team {
    static constexpr unet_chaos NO_FAULTS = {0, 0, 0, 0, 0, 1};
    std::vector<unet_endpoint *> ep;
    std::vector<gam *> g;

    explicit Team(uint32_t ranks) : ep(ranks), g(ranks)
    {
        gam_config config = {};
        unet_config sizes = {};

        handled = 0;
        gam_endpoint_config(ranks, 0, &sizes);
        for (unet_endpoint *&one : ep)
            REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &one) == 0);
        config.ranks = ranks;
        config.key[0] = 1;
        config.resolve = [](void *arg, uint32_t rank, struct unet_address *address) {
            unet_address(static_cast<unet_endpoint **>(arg)[rank], address);
            return 0;
        };
        config.resolve_arg = ep.data();
        for (config.rank = 0; config.rank < ranks; config.rank++) {
            REQUIRE(gam_open(ep[config.rank], &config, &g[config.rank]) == 0);
            gam_register(g[config.rank], 1, on_message);
        }
        REQUIRE(until([&] { return connected(); }));
    }
    ~Team()
    {
        for (gam *one : g)
            gam_close(one);
        for (unet_endpoint *one : ep)
            unet_close(one);
    }
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;

    bool connected() const
    {
        for (unet_endpoint *one : ep) {
            for (uint16_t channel = 1; channel <= ep.size(); channel++) {
                if (unet_channel_state(one, channel) != UNET_OPEN)
                    return false;
            }
        }
        return true;
    }
    // All others poll, and rank 0 as it is told, until it is true; false: it does not become so.
    bool until(const std::function<bool()> &done, void (*first)(gam *)) const
    {
        const auto end = Clock::now() + std::chrono::seconds(10);

        while (!done()) {
            if (Clock::now() > end)
                return false;
            first(g[0]);
            for (size_t rank = 1; rank < g.size(); rank++)
                gam_poll(g[rank]);
        }
        return true;
    }
    bool until(const std::function<bool()> &done) const
    {
        return until(done, [](gam *one) { gam_poll(one); });
    }
    bool settled() const
    {
        for (size_t rank = 1; rank < g.size(); rank++) {
            if (!gam_settled(g[rank]))
                return false;
        }
        return true;
    }
    // Who finds nothing for long enough pays what it owes.
    void give_credits_back() const
    {
        int polls = 0;

        REQUIRE(until([&] { return polls++ > 200 && settled(); }));
    }
    // A medium message from all others to rank 0.
    void send() const
    {
        const uint8_t data[200] = {};

        for (size_t rank = 1; rank < g.size(); rank++)
            REQUIRE(gam_request_medium(g[rank], 0, 1, data, sizeof(data), 0, nullptr) == 0);
    }
};

} // namespace

TEST_CASE("the acknowledgement of a lone message of several packets rides on the answer")
{
    const std::vector<uint8_t> data(2000); // links begin with packets of 512 bytes
    Team team(2);

    const uint64_t before[] = {team.ep[0]->stats.sent, team.ep[1]->stats.sent};
    REQUIRE(gam_request_medium(team.g[0], 1, 1, data.data(), data.size(), 0, nullptr) == 0);
    CHECK(team.ep[0]->stats.sent - before[0] >= 4);
    for (int i = 0; i < 100 && handled == 0; i++)
        gam_poll(team.g[1]);
    REQUIRE(handled == 1);
    REQUIRE(gam_request_0(team.g[1], 0, 1) == 0);
    CHECK(team.ep[1]->stats.sent - before[1] == 1);
    for (int i = 0; i < 100 && handled == 1; i++)
        gam_poll(team.g[0]);
    CHECK(handled == 2);
    CHECK(gam_settled(team.g[0]));
}

// With 5 ranks there are as many buffers as a ring of 512 can take.
TEST_CASE("what came while its receiver computes has buffers, however many have been used before")
{
    constexpr uint32_t ranks = 5, window = 512 / ranks - 1; // one is left for replies
    Team team(ranks);
    uint64_t sent = 0;

    while (sent < 1000) {
        team.send();
        sent += ranks - 1;
        REQUIRE(team.until([&] { return handled == sent; }));
    }
    team.give_credits_back();
    for (uint32_t i = 0; i < window; i++) {
        team.send();
        sent += ranks - 1;
        REQUIRE(team.until([&] { return team.settled(); }, gam_keep));
    }
    CHECK(handled == sent - window * (ranks - 1));
    team.until([&] { return handled == sent; });
    CHECK(handled == sent);
}

// ---- by itself ---------------------------------------------------------------------------

namespace {

// Rank 0's, without GAM, and two addresses: at rank 1's nobody has opened a channel.
struct Front {
    unet_endpoint *lower = nullptr, *there[2] = {}, *ep = nullptr;
    uint16_t channel = 0; // to rank 1
    gam_reliable *r = nullptr;

    Front()
    {
        gam_config config = {};

        open_endpoint(lower);
        config.ranks = 3;
        config.peer_timeout_ms = 1000;
        REQUIRE(gam_reliable_open(lower, &config, &ep) == 0);
        connect(2);
        open_channel(2);
        channel = connect(1);
        r = gam_reliable_of(ep);
    }
    ~Front()
    {
        unet_close(ep);
        for (unet_endpoint *one : {lower, there[0], there[1]})
            unet_close(one);
    }
    Front(const Front &) = delete;
    Front &operator=(const Front &) = delete;

private:
    static void open_endpoint(unet_endpoint *&one)
    {
        unet_config sizes = {};

        gam_endpoint_config(3, 0, &sizes);
        REQUIRE(unet_chaos_open(unet_backend("loopback"), &Team::NO_FAULTS, &sizes, &one) == 0);
    }
    uint16_t connect(uint32_t rank)
    {
        struct unet_address address;
        uint16_t to;

        open_endpoint(there[rank - 1]);
        unet_address(there[rank - 1], &address);
        REQUIRE(unet_connect(ep, &address, rank, &to) == 0);
        gam_reliable_bind(ep, to, rank);
        return to;
    }
    void open_channel(uint32_t rank)
    {
        unet_endpoint *one = there[rank - 1];
        struct unet_address address;
        uint16_t from;

        unet_address(lower, &address);
        REQUIRE(unet_free_put(one, 0, 8192) == 0);
        REQUIRE(unet_connect(one, &address, rank, &from) == 0);
        for (int i = 0; i < 100 && unet_channel_state(ep, 1) != UNET_OPEN; i++)
            unet_channel_state(one, from);
        REQUIRE(unet_channel_state(ep, 1) == UNET_OPEN);
        REQUIRE(unet_channel_state(one, from) == UNET_OPEN);
    }
};

// Twice the timeout, and no more than the clock shows that begins with the machine.
constexpr uint64_t LONG = 2000000;

bool sleeps(pid_t thread)
{
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::ostringstream text;

    text << file.rdbuf();
    return text.str().find(") S ") != std::string::npos;
}

} // namespace

TEST_CASE("who was away itself does not give up those to whom it connects")
{
    Front front;

    CHECK(unet_channel_state(front.ep, front.channel) == UNET_CONNECTING);
    // As if it had been stopped for so long.
    front.r->line[front.channel].since -= LONG;
    front.r->net->ticked -= LONG;
    CHECK(unet_channel_state(front.ep, front.channel) == UNET_CONNECTING);
    // As if it had waited for so long.
    front.r->net->grace -= LONG;
    CHECK(unet_channel_state(front.ep, front.channel) == UNET_DEAD);
}

TEST_CASE("whoever waits while another works does not set the protocol's clock back")
{
    const bool flush = GENERATE(true, false);
    Front front;
    std::atomic<pid_t> waiter{0};

    unet_channel_state(front.ep,
                       front.channel); // the first look of all counts as one after a pause
    const uint64_t grace = gam_net_grace(front.r->net);
    pthread_mutex_lock(&front.r->lock);
    std::thread thread([&] {
        waiter = gettid();
        if (flush)
            gam_reliable_flush(front.ep, true);
        else
            front.ep->ops->kick(front.ep, front.channel);
    });
    while (waiter == 0 || !sleeps(waiter))
        std::this_thread::yield();
    const uint64_t after = gam_now_us() + 1;
    uint32_t rank;
    size_t length;

    while (gam_now_us() < after) {
    }
    gam_net_transmit(front.r->net, after, &rank, &length);
    pthread_mutex_unlock(&front.r->lock);
    thread.join();
    INFO((flush ? "flush" : "kick") << ": a clock that goes back looks like a pause of our own");
    CHECK(gam_net_grace(front.r->net) == grace);
    CHECK(front.r->net->ticked >= after);
}

TEST_CASE("packets go although the last of them, to another rank, cannot")
{
    const uint8_t data[100] = {};
    const uint64_t now = gam_now_us();
    Front front;

    for (uint32_t rank : {2, 1})
        REQUIRE(gam_net_send(front.r->net, now, rank, 0, data, sizeof(data)) == 0);
    gam_send_packets(front.r, now);
    CHECK(front.lower->stats.sent == 1);
    CHECK(unet_sent(front.lower, front.lower->tx.position));
    CHECK(unet_rx_peek(front.there[1]) != nullptr);
}
