// SPDX-License-Identifier: BSD-3-Clause
//
// When what a thread sends may wait for more: between two waits, if the time between them is short.
#include <catch2/catch.hpp>

extern "C" {
#include "record/pause.h"
#include "stream/round.h"
}

namespace {

constexpr int MANY = 1000000; // events, for which every round is brief

int sends; // what waited

void send()
{
    sends++;
}

void spend(uint64_t ns)
{
    for (const uint64_t until = sockets_now_ns() + ns; sockets_now_ns() < until;)
        ;
}

void run(int told, uint64_t ns)
{
    sockets_round_send = send;
    sockets_round_begin(told);
    spend(ns);
    sockets_round_end();
}

} // namespace

TEST_CASE("a round is on between two waits, if the last one was brief")
{
    run(2, 1000000);
    CHECK_FALSE(sockets_round_is_on());
    sockets_round_begin(MANY);
    CHECK_FALSE(sockets_round_is_on()); // nothing brief is known
    sockets_round_end();
    CHECK_FALSE(sockets_round_is_on()); // between rounds
    sends = 0;
    sockets_round_begin(MANY);
    CHECK(sockets_round_is_on());
    CHECK(sends == 0);
    sockets_round_end();
    CHECK(sends == 1);
    sockets_round_begin(2);
    spend(1000000);
    CHECK_FALSE(sockets_round_is_on()); // it is no longer brief itself
    sockets_round_end();
    CHECK(sends == 2); // what was sent before that
    sockets_round_begin(MANY);
    CHECK_FALSE(sockets_round_is_on());
    sockets_round_end();
}

TEST_CASE("an event alone, none, and an error are no round")
{
    for (const int told : {1, 0, -1}) {
        run(MANY, 0);
        sockets_round_begin(told);
        INFO(told);
        CHECK_FALSE(sockets_round_is_on());
        sockets_round_end();
    }
}
