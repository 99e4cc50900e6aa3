// SPDX-License-Identifier: BSD-3-Clause
//
// What an enemy does to a connection is its own loss: random garbage in the memory that both share.
// And what friends do, for sanitizers to look at.
#include <catch2/catch.hpp>

#include <chrono>

#include "test/hostile.h"

TEST_CASE("a peer that writes garbage spoils its own connection, and nothing else")
{
    CHECK(hostile_run(1, 10000, 0) > 20);
}

TEST_CASE("nor does one that writes garbage during our calls")
{
    CHECK(hostile_run(2, 512, 1) > 0);
}

TEST_CASE("much garbage spoils no more than its connection", "[long]")
{
    CHECK(hostile_run(1000, 300000, 0) > 600);
    CHECK(hostile_run(100000, 20000, 1) > 20);
}

TEST_CASE("two threads stream both ways at once")
{
    CHECK(hostile_stream(1, 2 << 20) == 0);
}

TEST_CASE("small writes that TCP collects come to the ring")
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    int came = 0;

    // A receiver that does not run counts as slow.
    while (came == 0 && std::chrono::steady_clock::now() < end)
        came = hostile_comes_to_the_ring();
    CHECK(came == 1);
}
