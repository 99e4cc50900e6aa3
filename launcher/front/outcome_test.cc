// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>
#include <signal.h>

#include "front/outcome.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

// A job of three ranks on one machine, all of them started: rank N has the pid 100 + N.
struct Job3 {
    Job3()
    {
        plan.tree.hosts = {"a"};
        plan.job.node_of = {0, 0, 0};
        for (std::uint32_t rank = 0; rank < 3; rank++)
            ranks.on_started({rank, 100 + static_cast<int>(rank)});
    }

    Plan plan;
    Ranks ranks{plan};
    Outcome outcome{ranks};
};

constexpr int exited_with_3 = 3 << 8;

Exited exited(std::uint32_t rank, int status, bool joined = true, bool left = true)
{
    return {rank, status, joined, left, "", ""};
}

std::string words(const std::optional<Failure> &failure)
{
    return failure ? failure->what() : "nothing";
}

} // namespace

TEST_CASE("outcome: ranks that all succeed end the job with 0")
{
    Job3 job;
    CHECK_FALSE(job.outcome.on_joined());
    for (std::uint32_t rank = 0; rank < 3; rank++)
        CHECK_FALSE(job.outcome.on_exited(exited(rank, 0)));
    CHECK(job.outcome.exit_code() == 0);
}

TEST_CASE("outcome: the first rank to fail ends the job with its code")
{
    Job3 job;
    const auto first = job.outcome.on_exited(exited(1, exited_with_3));
    REQUIRE(first);
    CHECK(words(first) == "rank 1 (pid 101) exited with code 3; ending the job");
    CHECK(job.outcome.fail(first->code));
    CHECK_FALSE(job.outcome.on_exited(exited(0, SIGTERM)));
    CHECK_FALSE(job.outcome.fail(77));
    CHECK(job.outcome.exit_code() == 3);
}

TEST_CASE("outcome: the last rank has no job to end")
{
    Job3 job;
    job.outcome.on_exited(exited(0, 0));
    job.outcome.on_exited(exited(1, 0));
    const auto last = job.outcome.on_exited(exited(2, SIGSEGV));
    REQUIRE(last);
    CHECK(last->code == exit_signal + SIGSEGV);
    CHECK_THAT(words(last), EndsWith("was killed by signal 11 (Segmentation fault)"));
}

TEST_CASE("outcome: what is known of a death is told")
{
    Job3 job;
    Exited death = exited(0, SIGKILL);
    death.place = "a.sc:7";
    death.starved = "no memory";
    CHECK_THAT(words(job.outcome.on_exited(death)),
               Contains("was killed by signal 9 (Killed) at a.sc:7; no memory"));
}

TEST_CASE("outcome: a rank that joined has to leave")
{
    Job3 job;
    const auto failure = job.outcome.on_exited(exited(0, 0, true, false));
    REQUIRE(failure);
    CHECK(failure->code == exit_trouble);
    CHECK_THAT(words(failure), Contains("exited with code 0 without calling PMIx_Finalize"));
}

TEST_CASE("outcome: a rank that fails need not have left")
{
    Job3 job;
    const auto failure = job.outcome.on_exited(exited(0, exited_with_3, true, false));
    REQUIRE(failure);
    CHECK(failure->code == 3);
    CHECK_THAT(words(failure), Contains("exited with code 3; ending the job"));
}

TEST_CASE("outcome: a rank that never joined fails the job as soon as another one has")
{
    const bool joined_first = GENERATE(true, false);
    Job3 job;
    if (joined_first)
        CHECK_FALSE(job.outcome.on_joined());
    auto failure = job.outcome.on_exited(exited(2, 0, false, false));
    CHECK(failure.has_value() == joined_first);
    if (!joined_first)
        failure = job.outcome.on_joined();
    CHECK_THAT(words(failure), Contains("rank 2 (pid 102) exited with code 0 before it joined"));
}

TEST_CASE("outcome: ranks that abort never end the job with success")
{
    const Job3 job;
    CHECK(job.outcome.on_aborted({1, 77, ""}).code == 77);
    CHECK(job.outcome.on_aborted({1, 256, ""}).code == exit_trouble);
    CHECK(job.outcome.on_aborted({1, 0, ""}).code == exit_trouble);
    CHECK(std::string(job.outcome.on_aborted({1, 256, "why"}).what()) ==
          "rank 1 (pid 101) aborted the job with code 256: why");
}

TEST_CASE("outcome: an interrupted job ends with the signal, unless a rank has a code of its own")
{
    Job3 job;
    CHECK(job.outcome.interrupt(SIGINT));
    CHECK_FALSE(job.outcome.interrupt(SIGTERM)); // the second time
    CHECK(job.outcome.exit_code() == exit_signal + SIGINT);
    SECTION("all exit with 0 in spite of it")
    {
        for (std::uint32_t rank = 0; rank < 3; rank++)
            CHECK_FALSE(job.outcome.on_exited(exited(rank, 0)));
        CHECK(job.outcome.exit_code() == 0);
    }
    SECTION("a rank exits with a code, which ends nothing any more")
    {
        CHECK_FALSE(job.outcome.on_exited(exited(0, exited_with_3)));
        CHECK_FALSE(job.outcome.on_exited(exited(1, SIGTERM)));
        CHECK(job.outcome.exit_code() == 3);
    }
    SECTION("a rank had to be killed")
    {
        CHECK_FALSE(job.outcome.on_exited(exited(0, SIGKILL)));
        CHECK(job.outcome.exit_code() == exit_signal + SIGINT);
    }
    SECTION("a rank never joined, which is not its fault")
    {
        job.outcome.on_joined();
        CHECK_FALSE(job.outcome.on_exited(exited(0, 0, false, false)));
    }
}

TEST_CASE("outcome: a job that is interrupted before it has ranks ends with the signal")
{
    const Plan plan;
    const Ranks none(plan);
    Outcome outcome(none);
    outcome.interrupt(SIGHUP);
    CHECK(outcome.ending());
    CHECK(outcome.exit_code() == exit_signal + SIGHUP);
}
