// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <vector>

#include "front/deadlock.h"
#include "node/test_status.h"

using namespace unetrun;

// ---- the daemon's part ------------------------------------------------------------------------

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

// ---- the front end's part -------------------------------------------------------------------

namespace {

using Verdict = DeadlockJudge::Verdict;

const Stuck no{false, 0, 0, 0};

Stuck yes(std::uint64_t sent, std::uint64_t received, std::uint32_t round = 0)
{
    return {true, sent, received, round};
}

} // namespace

TEST_CASE("deadlock: nodes that are all stuck are asked once more")
{
    DeadlockJudge judge(2);
    CHECK(judge.hear(0, yes(5, 3)) == Verdict::nothing);
    CHECK(judge.hear(1, yes(2, 4)) == Verdict::ask);
    CHECK(judge.hear(1, yes(2, 4, judge.round())) == Verdict::nothing);
    CHECK(judge.hear(0, yes(5, 3, judge.round())) == Verdict::deadlock);
}

TEST_CASE("deadlock: one node is asked as well")
{
    DeadlockJudge judge(1);
    CHECK(judge.hear(0, yes(7, 7)) == Verdict::ask);
    CHECK(judge.hear(0, yes(7, 7, judge.round())) == Verdict::deadlock);
}

TEST_CASE("deadlock: not while a node is at work, or a message on its way")
{
    DeadlockJudge judge(2);
    CHECK(judge.hear(0, yes(5, 3)) == Verdict::nothing);
    CHECK(judge.hear(1, no) == Verdict::nothing);
    CHECK(judge.hear(1, yes(2, 3)) == Verdict::nothing); // one of node 0's has not come
    CHECK(judge.hear(1, no) == Verdict::nothing);
    CHECK(judge.hear(1, yes(2, 4)) == Verdict::ask);     // it has
    CHECK(judge.hear(7, yes(0, 0)) == Verdict::nothing); // has no ranks
}

TEST_CASE("deadlock: not if the nodes were stuck at different times")
{
    DeadlockJudge judge(2);
    judge.hear(0, yes(5, 3)); // old: it has had a message and an answer since
    REQUIRE(judge.hear(1, yes(2, 4)) == Verdict::ask);
    const std::uint32_t first = judge.round();
    CHECK(judge.hear(1, yes(2, 4, first)) == Verdict::nothing);
    CHECK(judge.hear(0, yes(6, 4, first)) == Verdict::ask); // again, as it is balanced
    CHECK(judge.round() != first);
    CHECK(judge.hear(1, yes(2, 4, first)) == Verdict::nothing); // a late answer
    CHECK(judge.hear(0, yes(6, 4, judge.round())) == Verdict::nothing);
    CHECK(judge.hear(1, yes(3, 5, judge.round())) == Verdict::ask);
}

TEST_CASE("deadlock: a node that goes on ends the round")
{
    DeadlockJudge judge(2);
    judge.hear(0, yes(1, 1));
    REQUIRE(judge.hear(1, yes(1, 1)) == Verdict::ask);
    const std::uint32_t first = judge.round();
    CHECK(judge.hear(0, yes(1, 1, first)) == Verdict::nothing);
    CHECK(judge.hear(1, no) == Verdict::nothing);
    CHECK(judge.hear(1, yes(1, 1)) == Verdict::ask);
    CHECK(judge.hear(0, yes(1, 1, first)) == Verdict::nothing);
    CHECK(judge.hear(1, yes(1, 1, judge.round())) == Verdict::nothing);
    CHECK(judge.hear(0, yes(1, 1, judge.round())) == Verdict::deadlock);
}
