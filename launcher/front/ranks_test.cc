// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "common/failure.h"
#include "front/ranks.h"

using namespace unetrun;

namespace {

Plan plan_of(const std::vector<std::uint32_t> &node_of)
{
    Plan plan;
    plan.job.node_of = node_of;
    plan.tree.hosts = {"left", "right"};
    return plan;
}

} // namespace

TEST_CASE("ranks: they are named with their pids, from when these are known")
{
    const Plan plan = plan_of({0, 0, 0});
    Ranks ranks(plan);
    CHECK(ranks.count() == 3);
    CHECK(ranks.name(0) == "rank 0 (pid 0)");
    CHECK(ranks.name(2) == "rank 2 (pid 0)");
    CHECK(ranks.started() == 0);
    ranks.on_started({1, 4711});
    ranks.on_started({1, 4711}); // once more changes nothing
    CHECK(ranks.started() == 1);
    CHECK(ranks.name(0) == "rank 0 (pid 0)");
    CHECK(ranks.name(1) == "rank 1 (pid 4711)");
    CHECK(ranks.name(2) == "rank 2 (pid 0)");
}

TEST_CASE("ranks: those of other machines are named with their hosts")
{
    Plan plan = plan_of({0, 1});
    plan.tree.rsh = {"ssh"};
    Ranks ranks(plan);
    ranks.on_started({1, 4711});
    CHECK(ranks.name(1) == "rank 1 (pid 4711 on right)");
}

TEST_CASE("ranks: each is its own node's, and no other is anybody's")
{
    const Plan plan = plan_of({0, 1});
    const Ranks ranks(plan);
    CHECK_NOTHROW(ranks.check(0, 0));
    CHECK_NOTHROW(ranks.check(1, 1));
    CHECK_THROWS_AS(ranks.check(0, 1), Failure);
    CHECK_THROWS_AS(ranks.check(1, 0), Failure);
    CHECK_THROWS_AS(ranks.check(0, 2), Failure);
}
