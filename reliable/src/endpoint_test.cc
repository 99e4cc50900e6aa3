// SPDX-License-Identifier: BSD-3-Clause
//
// endpoint_test.cc - the reliable endpoint: its channels, its queues, and its packets.
#include <catch2/catch.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unet/unet_chaos.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "src/connection.h"
#include "src/endpoint.h"
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr unet_chaos NO_FAULTS = {0, 0, 0, 0, 0, 1};
constexpr uint32_t RANKS = 3;

// Rank 0's, and two addresses: at rank 1's nobody has opened a channel.
struct Front {
    unet_endpoint *lower = nullptr, *there[2] = {}, *ep = nullptr;
    uint16_t channel = 0; // to rank 1
    reliable_endpoint *r = nullptr;

    Front()
    {
        const reliable_config config = {RANKS, 0, {}, 1000};
        const unet_config sizes = {};

        open_endpoint(lower);
        REQUIRE(reliable_open(lower, &config, &sizes, &ep) == 0);
        connect(2);
        open_channel(2);
        channel = connect(1);
        r = reliable_of(ep);
    }
    ~Front()
    {
        unet_close(ep);
        for (unet_endpoint *one : there)
            unet_close(one);
    }
    Front(const Front &) = delete;
    Front &operator=(const Front &) = delete;

private:
    static void open_endpoint(unet_endpoint *&one)
    {
        unet_config sizes = {};

        reliable_lower_config(RANKS, &sizes);
        REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &one) == 0);
    }
    uint16_t connect(uint32_t rank)
    {
        struct unet_address address;
        uint16_t to;

        open_endpoint(there[rank - 1]);
        unet_address(there[rank - 1], &address);
        REQUIRE(reliable_address(&address, rank, &address) == 0);
        REQUIRE(unet_connect(ep, &address, rank, &to) == 0);
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
    front.r->peer[front.channel].connecting_since -= LONG;
    front.r->engine->ticked -= LONG;
    CHECK(unet_channel_state(front.ep, front.channel) == UNET_CONNECTING);
    // As if it had waited for so long.
    front.r->engine->grace -= LONG;
    CHECK(unet_channel_state(front.ep, front.channel) == UNET_DEAD);
}

TEST_CASE("whoever waits while another works does not set the protocol's clock back")
{
    const bool uncork = GENERATE(true, false);
    Front front;
    std::atomic<pid_t> waiter{0};

    unet_channel_state(front.ep,
                       front.channel); // the first look of all counts as one after a pause
    const uint64_t grace = reliable_engine_grace(front.r->engine);
    pthread_mutex_lock(&front.r->lock);
    std::thread thread([&] {
        waiter = gettid();
        if (uncork)
            unet_uncork(front.ep);
        else
            front.ep->ops->kick(front.ep, front.channel);
    });
    while (waiter == 0 || !sleeps(waiter))
        std::this_thread::yield();
    const uint64_t after = reliable_now_us() + 1;
    uint32_t rank;
    size_t length;

    while (reliable_now_us() < after) {
    }
    reliable_engine_transmit(front.r->engine, after, &rank, &length);
    pthread_mutex_unlock(&front.r->lock);
    thread.join();
    INFO((uncork ? "uncork" : "kick") << ": a clock that goes back looks like a pause of our own");
    CHECK(reliable_engine_grace(front.r->engine) == grace);
    CHECK(front.r->engine->ticked >= after);
}

TEST_CASE("packets go although the last of them, to another rank, cannot")
{
    const uint8_t data[100] = {};
    const uint64_t now = reliable_now_us();
    Front front;

    for (uint32_t rank : {2, 1})
        REQUIRE(reliable_engine_send(front.r->engine, now, rank, 0, data, sizeof(data)) == 0);
    reliable_packets_send(front.r, now);
    CHECK(front.lower->stats.sent == 1);
    CHECK(unet_sent(front.lower, front.lower->tx.position));
    CHECK(unet_rx_peek(front.there[1]) != nullptr);
}
