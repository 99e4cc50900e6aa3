// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "front/deadlock_judge.h"

using namespace unetrun;

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
