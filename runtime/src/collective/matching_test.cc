// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

extern "C" {
#include "matching.h"
}

namespace {

class Inbox {
public:
    ~Inbox() { splitc_inbox_close(&box_); }

    void put(uint32_t peer, uint64_t token)
    {
        auto *e = static_cast<splitc_early *>(std::calloc(1, sizeof(splitc_early)));
        e->peer = peer;
        e->token = token;
        REQUIRE(splitc_inbox_put(&box_, e));
    }
    // the token of the oldest piece of a sender, which is taken out; -1: there is none
    int64_t take(uint32_t peer)
    {
        if (!splitc_inbox_first(&box_, peer))
            return -1;
        splitc_early *e = splitc_inbox_take(&box_, peer);
        const auto token = static_cast<int64_t>(e->token);
        std::free(e);
        return token;
    }
    uint64_t pieces() const { return box_.pieces; }
    uint32_t room() const { return box_.room; }

private:
    splitc_inbox box_{};
};

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

} // namespace

TEST_CASE("matching: early pieces come out in the order of each sender")
{
    Inbox box;
    std::mt19937 random(7);
    std::vector<std::vector<int64_t>> model(100);

    for (int64_t i = 0; i < 20000; i++) {
        const auto peer = static_cast<uint32_t>(random() % model.size());
        std::vector<int64_t> &queue = model[peer];
        if (random() % 2) {
            box.put(peer * 65537, static_cast<uint64_t>(i));
            queue.push_back(i);
        } else {
            const int64_t expected = queue.empty() ? -1 : queue.front();
            if (!queue.empty())
                queue.erase(queue.begin());
            REQUIRE(box.take(peer * 65537) == expected);
        }
    }
    for (uint32_t peer = 0; peer < model.size(); peer++)
        for (const int64_t token : model[peer])
            REQUIRE(box.take(peer * 65537) == token);
    CHECK(box.pieces() == 0);
    CHECK(box.room() <= 512);
}

// Looking through all that waits would take a minute.
TEST_CASE("matching: the time of a piece does not depend on how many wait")
{
    constexpr uint32_t segments = 300'000, senders = 65'536;
    const double begin = cpu_seconds();
    Inbox box;

    for (uint32_t i = 0; i < segments; i++)
        box.put(3, i);
    for (uint32_t i = 0; i < segments; i++)
        if (box.take(3) != i)
            FAIL("segment " << i);
    for (uint32_t peer = 0; peer < senders; peer++)
        box.put(peer, peer);
    for (uint32_t peer = senders; peer-- > 0;)
        if (box.take(peer) != peer)
            FAIL("sender " << peer);
    CHECK(cpu_seconds() - begin < 3);
}

TEST_CASE("matching: a table of steps fits its round, and is used again")
{
    splitc_takers takers{};

    REQUIRE(splitc_takers_begin(&takers, 1000));
    CHECK(takers.room == 2048);
    takers.first[5] = 7;
    REQUIRE(splitc_takers_begin(&takers, 9));
    CHECK(takers.room == 32);
    CHECK(takers.first[5] == 0);
    for (uint32_t peer = 0; peer < 70000; peer += 13)
        REQUIRE(splitc_takers_hash(&takers, peer) < takers.room);
    REQUIRE(splitc_takers_begin(&takers, 1000));
    CHECK(takers.allocated == 2048);
    splitc_takers_close(&takers);
}
