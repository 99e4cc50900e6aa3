// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <vector>

#include "node/deadlock_watch.h"
#include "node/test_status.h"

using namespace unetrun;

namespace {

// How many looks it takes to find them stuck, if each passes `step` in between; 0: never.
template <class Step> int looks_until_stuck(std::vector<splitc_status> ranks, Step step)
{
    DeadlockWatch watch;
    for (int look = 1; look <= 50; look++) {
        if (watch.look(ranks).stuck)
            return look;
        for (splitc_status &rank : ranks)
            rank.looks++;
        step(ranks, look);
    }
    return 0;
}

void nothing(std::vector<splitc_status> &, int)
{
}

} // namespace

TEST_CASE("deadlock: all wait, and look in vain")
{
    CHECK(looks_until_stuck({waiting("barrier"), waiting("store_sync")}, nothing) == 5);
    CHECK(looks_until_stuck({waiting("barrier")}, nothing) == 5);
    CHECK(looks_until_stuck({waiting("lock"), waiting("lock")}, [](auto &ranks, int) {
              ranks[0].tries++;
              ranks[1].tries += 2;
          }) == 5);
}

TEST_CASE("deadlock: not while anything happens")
{
    using Ranks = std::vector<splitc_status>;
    const Ranks ranks = {waiting("barrier"), waiting("sync"), waiting("barrier")};

    CHECK(looks_until_stuck({}, nothing) == 0);
    CHECK(looks_until_stuck({waiting("barrier"), waiting("")}, nothing) == 0);
    CHECK(looks_until_stuck({waiting("barrier"), splitc_status{}}, nothing) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[1].arrivals++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[2].waits++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[2].held = 1; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[0].sent++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[2].received++; }) == 0);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[1].tries = 3; }) == 0); // its try lasts
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r[0].looks--; }) == 0);   // it does not run
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int) { r.resize(2); }) == 6);
    CHECK(looks_until_stuck(ranks, [](Ranks &r, int look) { r[1].arrivals += look == 3; }) == 8);
}

TEST_CASE("deadlock: what the ranks have sent and received is summed up")
{
    DeadlockWatch watch;
    std::vector<splitc_status> ranks = {waiting("barrier"), waiting("sync")};
    ranks[0].sent = 5;
    ranks[1].sent = 7;
    ranks[1].received = 11;
    watch.look(ranks);
    for (splitc_status &rank : ranks)
        rank.looks++;
    const Stuck found = watch.look(ranks);
    CHECK(found.sent == 12);
    CHECK(found.received == 11);
}
