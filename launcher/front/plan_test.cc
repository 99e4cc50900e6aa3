// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "common/environment.h"
#include "front/command_line.h"
#include "front/plan.h"

using namespace unetrun;
using Strings = std::vector<std::string>;
using Numbers = std::vector<std::uint32_t>;

namespace {

Plan plan_of(Strings arguments)
{
    arguments.push_back("./program");
    return make_plan(parse_options(arguments));
}

} // namespace

TEST_CASE("plan: a job of this machine has one node and needs no remote shell")
{
    Plan plan = plan_of({"-n", "3"});
    CHECK(plan.tree.hosts.size() == 1);
    CHECK(plan.tree.rsh.empty());
    place_ranks(plan, {8});
    CHECK(plan.job.node_of == Numbers{0, 0, 0});
    CHECK(plan.job.valid());
}

TEST_CASE("plan: ranks of nodes that are one machine are bound only if the user says so")
{
    CHECK(plan_of({"-n", "2"}).job.bind_to == BindTo::automatic);
    CHECK(plan_of({"-n", "2", "--nodes", "2"}).job.bind_to == BindTo::none);
    CHECK(plan_of({"-n", "2", "--nodes", "2", "--bind-to", "core"}).job.bind_to == BindTo::core);
}

TEST_CASE("plan: hosts that get no rank are not asked")
{
    Plan plan = plan_of({"--hosts", "a:2,b:2,c:2", "-n", "3"});
    CHECK(plan.tree.hosts == Strings{"a", "b"});
    CHECK(plan.tree.rsh.front() == "ssh");
    place_ranks(plan, {8, 8});
    CHECK(plan.job.node_of == Numbers{0, 0, 1});
}

TEST_CASE("plan: hosts are asked if only their cores tell whether they get a rank")
{
    Plan plan = plan_of({"--hosts", "a,b,c", "-n", "2", "--map-by", "core"});
    CHECK(plan.tree.hosts == Strings{"a", "b"});
    place_ranks(plan, {8, 8});
    CHECK(plan.job.node_of == Numbers{0, 0});
    CHECK(plan.job.hosts == Strings{"a"});
}

TEST_CASE("plan: this machine among the hosts is reached without a remote shell")
{
    CHECK(plan_of({"--hosts", "elsewhere,localhost", "-n", "2"}).tree.here == 1);
    CHECK(plan_of({"--hosts", "elsewhere,localhost", "-n", "2", "--rsh", "ssh"}).tree.here ==
          every_node);
    CHECK(plan_of({"--hosts", "localhost"}).tree.rsh.empty());
}

TEST_CASE("plan: hosts look for networks where the ranks will, unless the user has chosen")
{
    const Tree tree = plan_of({"--hosts", "a,b", "--net", "10.1.0.0/16"}).tree;
    CHECK(tree.backends == Strings{"fe", "udp"});
    CHECK(value_of(tree.places, "UNET_INTERFACE") == "10.1.0.0/16");
    CHECK(plan_of({"--hosts", "a,b", "--backend", "shm,udp"}).tree.backends.empty());
}

TEST_CASE("plan: no two jobs have a name or a secret in common")
{
    const Job a = plan_of({}).job, b = plan_of({}).job;
    CHECK(a.id != b.id);
    CHECK(a.key != b.key);
    CHECK(a.key.size() == 32);
    CHECK(a.key.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(a.id.substr(a.id.find('~') + 1).size() == 32); // 128 bits that nobody can guess
    CHECK(a.id.substr(a.id.find_last_of('-') + 1).find('~') == 16);
}

TEST_CASE("plan: options give variables that the user has not set a default")
{
    CHECK(value_of(plan_of({"--valgrind", "all"}).job.environment, "SPLITC_HEAP") == "256M");
    CHECK(value_of(plan_of({"--valgrind", "all", "--heap", "1G"}).job.environment, "SPLITC_HEAP") ==
          "1G");
}
