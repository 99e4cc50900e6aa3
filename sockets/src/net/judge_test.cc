// SPDX-License-Identifier: BSD-3-Clause
//
// What is judged of figures that are made up: how fast links and TCP are.
#include <catch2/catch.hpp>

extern "C" {
#include "net/judge.h"
}

namespace {

constexpr uint64_t READ = 1000; // bytes of each
constexpr uint64_t S = 1000000000, MS = 1000000;

uint64_t now_ns = S;

uint64_t now()
{
    return now_ns;
}

// A process that reads one message after the other from connections of other hosts.
class World {
public:
    // Nanoseconds for each read.
    World(uint64_t by_links, uint64_t by_tcp, int links) : by_links_(by_links), by_tcp_(by_tcp)
    {
        sockets_judge_now = now;
        sockets_judge_after_fork();
        now_ns += 1000 * S; // nothing from the test before
        change_links(links);
    }

    void change_links(int by)
    {
        for (; by > 0; by--)
            sockets_judge_add();
        for (; by < 0; by++)
            sockets_judge_remove();
    }

    void change_speed(uint64_t by_links, uint64_t by_tcp)
    {
        by_links_ = by_links;
        by_tcp_ = by_tcp;
    }

    // True: the verdict has changed.
    bool read()
    {
        const bool tcp = sockets_judge_says_tcp();
        const uint64_t passed = tcp ? by_tcp_ : by_links_;

        now_ns += passed;
        tcp_ns_ += tcp ? passed : 0;
        return sockets_judge_count(READ);
    }

    void run(uint64_t ns)
    {
        for (const uint64_t end = now_ns + ns; now_ns < end;)
            changes_ += read();
    }

    // In seconds.
    double until_change()
    {
        const uint64_t begin = now_ns;

        while (!read() && now_ns < begin + 100 * S)
            ;
        return double(now_ns - begin) / double(S);
    }

    // Nobody reads meanwhile.
    void pause(uint64_t ns) { now_ns += ns; }

    // Since this was last asked.
    uint64_t tcp_ns()
    {
        const uint64_t ns = tcp_ns_;

        tcp_ns_ = 0;
        return ns;
    }
    int changes()
    {
        const int count = changes_;

        changes_ = 0;
        return count;
    }

    bool is_tcp() const { return sockets_judge_says_tcp(); }

private:
    uint64_t by_links_, by_tcp_, tcp_ns_ = 0;
    int changes_ = 0;
};

} // namespace

TEST_CASE("one link is not judged, however much better TCP is")
{
    World world(20000, 5000, 1);

    world.run(5 * S);
    CHECK(world.tcp_ns() == 0);
    world.change_links(-1);
}

TEST_CASE("what is better is kept, and tried when links have been there for a while")
{
    const bool tcp_is_better = GENERATE(false, true);
    World world(tcp_is_better ? 10000 : 5000, tcp_is_better ? 5000 : 10000, 4);

    world.run(40 * MS);
    CHECK(world.changes() == 0);
    world.run(60 * MS);
    CHECK(world.changes() > 0);
    CHECK(world.is_tcp() == tcp_is_better);
    world.run(500 * MS);
    CHECK(world.changes() == 0);
    world.change_links(-4);
}

TEST_CASE(
    "the other way is tried again later and later, at most after 64 seconds, and not for long")
{
    World world(5000, 10000, 4);

    world.run(70 * MS);
    CHECK_FALSE(world.is_tcp());
    for (const int seconds : {2, 4, 8, 16, 32, 64, 64}) {
        CHECK(world.until_change() == Approx(seconds).epsilon(0.02));
        CHECK(world.until_change() < 0.01);
    }
    world.change_links(-4);
}

TEST_CASE("a way that is only a little better is not taken")
{
    World world(10000, 9800, 4);

    world.run(4 * S);
    CHECK_FALSE(world.is_tcp());
    world.change_speed(10000, 9000);
    world.run(10 * S);
    CHECK(world.is_tcp());
    world.change_speed(9800, 10000);
    world.run(20 * S);
    CHECK(world.is_tcp());
    world.change_speed(9000, 10000);
    world.run(40 * S);
    CHECK_FALSE(world.is_tcp());
    world.change_links(-4);
}

TEST_CASE("TCP that is a little worse is tried twice before that counts, much worse once")
{
    World world(10000, 10500, 4);

    world.run(300 * MS);
    CHECK(world.tcp_ns() > 14 * MS);
    world.change_speed(10000, 20000);
    world.run(2 * S);
    CHECK(world.tcp_ns() < 10 * MS);
    world.change_links(-4);
}

TEST_CASE(
    "what was found of few links is tried anew when there are many, and does not hold for one")
{
    World world(5000, 10000, 3);

    world.run(60 * S);
    world.changes();
    world.change_speed(10000, 5000);
    world.change_links(3); // twice as many are as few
    world.run(300 * MS);
    CHECK_FALSE(world.is_tcp());
    world.change_links(1);
    world.run(300 * MS);
    CHECK(world.is_tcp());
    world.change_links(-6);
    CHECK_FALSE(world.is_tcp());
    world.change_links(-1);
}

TEST_CASE("where little is read the other way is not tried")
{
    World world(200000, 100000, 4); // 30 reads in a window

    world.run(20 * S);
    CHECK(world.tcp_ns() == 0);
    world.change_links(-4);
}

TEST_CASE("a pause in the middle of a trial does not count against either way")
{
    World world(10000, 5000, 4);

    world.run(65 * MS); // TCP's first window
    REQUIRE(world.is_tcp());
    world.pause(150 * MS);
    world.run(100 * MS);
    CHECK_FALSE(world.is_tcp());
    world.run(1 * S); // sooner than after a trial that found nothing better
    CHECK(world.is_tcp());
    world.change_links(-4);
}
