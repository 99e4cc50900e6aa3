// SPDX-License-Identifier: BSD-3-Clause
//
// network_test.cc - GAM over a reliable endpoint: how its messages share packets, and what waits
// while nobody polls.
#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <gam/gam.h>
#include <reliable/reliable.h>
#include <unet/unet.h>
#include <unet/unet_chaos.h>
#include <vector>

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
    std::vector<unet_endpoint *> lower, ep; // a reliable endpoint owns the one below it
    std::vector<gam *> g;

    explicit Team(uint32_t ranks) : lower(ranks), ep(ranks), g(ranks)
    {
        gam_config config = {};

        handled = 0;
        for (uint32_t rank = 0; rank < ranks; rank++)
            open_endpoint(rank);
        config.ranks = ranks;
        config.key[0] = 1;
        config.resolve = [](void *arg, uint32_t rank, struct unet_address *address) {
            unet_address(static_cast<unet_endpoint **>(arg)[rank], address);
            return 0;
        };
        config.resolve_arg = ep.data();
        for (config.rank = 0; config.rank < ranks; config.rank++) {
            gam *&one = g[config.rank];

            REQUIRE(gam_open(ep[config.rank], &config, &one) == 0);
            REQUIRE(gam_register(one, 1, on_message) == 0);
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
    bool until(const std::function<bool()> &done, const std::function<void()> &first) const
    {
        const auto end = Clock::now() + std::chrono::seconds(10);

        while (!done()) {
            if (Clock::now() > end)
                return false;
            first();
            for (size_t rank = 1; rank < g.size(); rank++)
                gam_poll(g[rank]);
        }
        return true;
    }
    bool until(const std::function<bool()> &done) const
    {
        return until(done, [&] { gam_poll(g[0]); });
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
    void open_endpoint(uint32_t rank)
    {
        const auto ranks = static_cast<uint32_t>(ep.size());
        const reliable_config config = {ranks, rank, {1, 0}, 0, RELIABLE_AUTH_FULL, 0, 0};
        unet_config sizes = {};

        reliable_lower_config(ranks, &sizes);
        REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, &lower[rank]) == 0);
        gam_network_config(ranks, 0, &sizes);
        REQUIRE(reliable_open(lower[rank], &config, &sizes, &ep[rank]) == 0);
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

    const uint64_t before[] = {team.lower[0]->stats.sent, team.lower[1]->stats.sent};
    REQUIRE(gam_request_medium(team.g[0], 1, 1, data.data(), data.size(), 0, nullptr) == 0);
    CHECK(team.lower[0]->stats.sent - before[0] >= 4);
    for (int i = 0; i < 100 && handled == 0; i++)
        gam_poll(team.g[1]);
    REQUIRE(handled == 1);
    REQUIRE(gam_request_0(team.g[1], 0, 1) == 0);
    CHECK(team.lower[1]->stats.sent - before[1] == 1);
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
        REQUIRE(
            team.until([&] { return team.settled(); }, [&] { reliable_keepalive(team.ep[0]); }));
    }
    CHECK(handled == sent - window * (ranks - 1));
    team.until([&] { return handled == sent; });
    CHECK(handled == sent);
}
