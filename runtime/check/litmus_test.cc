// SPDX-License-Identifier: BSD-3-Clause
//
// The litmus tests of docs/memory-model.md, through windows and by messages.
#include "job.h"

#include <catch2/catch.hpp>

namespace {

// Rounds of 64 races.  Where ranks share cores, each message waits for its receiver's turn.
void holds(const std::string &check, int ranks)
{
    passes(ranks, check + " " + LITMUS_ROUNDS, "SPLITC_WINDOWS=1");
    passes(ranks, check + " " + LITMUS_MESSAGE_ROUNDS, "SPLITC_WINDOWS=0");
}

} // namespace

TEST_CASE("litmus: store buffering, a sync or an atomic operation between")
{
    holds(std::string("litmus ") + GENERATE("sb_sync", "sb_atomic", "sb_put"), GENERATE(2, 4));
}

TEST_CASE("litmus: message passing")
{
    holds(std::string("litmus ") + GENERATE("mp_write", "mp_put", "mp_atomic"), GENERATE(2, 4));
}

TEST_CASE("litmus: load buffering")
{
    holds("litmus lb", GENERATE(2, 4));
}

TEST_CASE("litmus: independent reads of independent writes")
{
    holds(std::string("litmus ") + GENERATE("iriw", "iriw_atomic"), 4);
}

TEST_CASE("litmus: coherence")
{
    holds(std::string("litmus ") + GENERATE("coherent_reads", "coherent_writes"), GENERATE(2, 4));
}

TEST_CASE("litmus: atomic operations succeed once")
{
    holds("litmus atomic", GENERATE(2, 4));
}

TEST_CASE("litmus: stores, barriers and reductions order what is around them")
{
    holds("litmus_ordering", GENERATE(2, 3, 4));
}

#ifdef LITMUS_LONG
// On a machine of one core, or one that reorders nothing, the others prove nothing.
TEST_CASE("litmus: the races are races, as store buffering shows")
{
    Ended ended = run(2, std::string("litmus sb_plain ") + LITMUS_ROUNDS + " count");

    INFO(ended.output);
    CHECK(ended.code == 0);
    CHECK_THAT(ended.output, !Catch::StartsWith("sb_plain: 0 of "));
}
#endif
