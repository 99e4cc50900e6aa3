// SPDX-License-Identifier: BSD-3-Clause
//
// How long a waiter spins: what it learns of wake-ups, and of waits that were in vain.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>

extern "C" {
#include "spin/spin.h"
}

namespace {

// A clock and a core that do as a test says, from when the yields have a length.
std::atomic<uint64_t> now_ns, yields_take_ns;

} // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec *t) noexcept
{
    const uint64_t now = now_ns += 40;

    if (yields_take_ns == 0)
        return static_cast<int>(syscall(SYS_clock_gettime, clock, t));
    t->tv_sec = static_cast<time_t>(now / 1000000000);
    t->tv_nsec = static_cast<long>(now % 1000000000);
    return 0;
}

int sched_yield() noexcept
{
    now_ns += yields_take_ns;
    return yields_take_ns == 0 ? static_cast<int>(syscall(SYS_sched_yield)) : 0;
}
}

namespace {

void wake(uint64_t ns, int times)
{
    for (int i = 0; i < times; i++)
        sockets_spin_learn(ns);
}

// Of a thread that has not waited yet.
uint64_t limit()
{
    sockets_spin spin;

    sockets_spin_begin(&spin, SOCKETS_SPIN_NEAR);
    return spin.limit_ns;
}

// How many of so many waits, which are all in vain, begin with spinning.
int spins_of(int waits)
{
    sockets_spin spin;
    int spins = 0;

    for (int i = 0; i < waits; i++) {
        sockets_spin_begin(&spin, SOCKETS_SPIN_NEAR);
        spins += spin.limit_ns > 0;
        while (sockets_spin_turn(&spin))
            ;
    }
    return spins;
}

} // namespace

TEST_CASE("a waiter spins for as long as two wake-ups take, between 50 and 200 us")
{
    unsetenv("UNETSOCK_SPIN");
    sockets_spin_init();
    CHECK(limit() == 50000);
    wake(5000, 100);
    CHECK(limit() == 50000);
    wake(80000, 100);
    CHECK(limit() > 155000);
    CHECK(limit() <= 160000);
    wake(10000000, 100);
    CHECK(limit() == 200000);
    wake(10000, 100);
    CHECK(limit() == 50000);
}

TEST_CASE("a limit that is given is the limit")
{
    setenv("UNETSOCK_SPIN", "20", 1);
    sockets_spin_init();
    wake(80000, 100);
    CHECK(limit() == 20000);
    setenv("UNETSOCK_SPIN", "0", 1);
    sockets_spin_init();
    CHECK(limit() == 0);
    setenv("UNETSOCK_SPIN", "20 us", 1);
    sockets_spin_init();
    CHECK(limit() == 50000);
}

TEST_CASE("who spins in vain does so more and more seldom, and anew once it was worth while")
{
    sockets_spin spin;

    setenv("UNETSOCK_SPIN", "50", 1); // whatever else wants the core
    sockets_spin_init();
    CHECK(spins_of(1000) < 50);
    CHECK(spins_of(1000) <= 4);
    do
        sockets_spin_begin(&spin, SOCKETS_SPIN_NEAR);
    while (spin.limit_ns == 0);
    CHECK(spin.limit_ns == 50000);
    while (sockets_spin_turn(&spin) && spin.turn < 200)
        ;
    const uint64_t took = 200 * 5; // a turn takes longer than that
    sockets_spin_won(&spin);
    CHECK(limit() >= took * 3 / 2);
    CHECK(spins_of(100) > 4);
}

TEST_CASE("who waits for less than that spins for no longer, which says nothing of spinning")
{
    uint64_t cut = 0, after = 0;
    bool looks = true;

    setenv("UNETSOCK_SPIN", "50", 1);
    sockets_spin_init();
    std::thread([&] { // which has not waited yet
        sockets_spin spin;

        for (int i = 0; i < 100; i++) {
            sockets_spin_begin(&spin, SOCKETS_SPIN_NEAR);
            sockets_spin_cut(&spin, 1000);
            cut = spin.limit_ns;
            while (sockets_spin_turn(&spin))
                ;
        }
        after = limit();
        sockets_spin_begin(&spin, SOCKETS_SPIN_NEAR);
        sockets_spin_cut(&spin, 0);
        looks = sockets_spin_turn(&spin);
    })
        .join();
    CHECK(cut == 1000);
    CHECK(after == 50000);
    CHECK_FALSE(looks);
}

TEST_CASE(
    "who wants the core for a moment does not end a spin, who wants it for long does, for a while")
{
    int brief = 0, beside_brief = 0, beside_long = 0, later = 0;
    bool beside_brief_yields = false, beside_long_yields = true;

    unsetenv("UNETSOCK_SPIN");
    sockets_spin_init();
    wake(80000, 100);
    std::thread([&] { // which has not waited yet
        sockets_spin spin;
        const auto turns = [&spin] {
            int n = 0;

            for (sockets_spin_begin(&spin, SOCKETS_SPIN_NEAR); sockets_spin_turn(&spin);)
                n++;
            return n;
        };

        yields_take_ns = 60000;
        brief = turns();
        beside_brief_yields = sockets_spin_yield();
        beside_brief = turns();
        yields_take_ns = 2000000;
        turns();
        beside_long = turns();
        beside_long_yields = sockets_spin_yield();
        now_ns += 17 * 2000000;
        yields_take_ns = 100;
        later = turns();
        yields_take_ns = 0;
    })
        .join();
    CHECK(brief > 64); // beyond two yields
    CHECK(beside_brief > 32);
    CHECK(beside_brief_yields);
    CHECK(beside_long == 0);
    CHECK_FALSE(beside_long_yields);
    CHECK(later > 32);
}

TEST_CASE("who waits for more of a stream keeps spinning on a busy core as long as more has come")
{
    int at_first = 0, after_more = 0, after_nothing = 0, later = 0;

    unsetenv("UNETSOCK_SPIN");
    sockets_spin_init();
    std::thread([&] { // which has not waited yet
        sockets_spin spin;
        const auto turns = [&spin](bool more_comes) {
            int n = 0;

            sockets_spin_begin(&spin, SOCKETS_SPIN_STREAM);
            while (sockets_spin_turn(&spin) && !(more_comes && n >= 32))
                n++;
            if (more_comes)
                sockets_spin_won(&spin);
            return n;
        };

        yields_take_ns = 2000000;
        at_first = turns(true);
        after_more = turns(false);
        after_nothing = turns(false);
        now_ns += 17 * 2000000;
        turns(true);
        later = turns(true);
        yields_take_ns = 0;
    })
        .join();
    CHECK(at_first == 32); // beyond the first yield
    CHECK(after_more >= 31);
    CHECK(after_nothing == 0);
    CHECK(later == 32);
}
