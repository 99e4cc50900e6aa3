// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "front/nodes.h"
#include "front/ranks.h"

using namespace unetrun;
using Numbers = std::vector<std::uint32_t>;

namespace {

// Node 0 leads to nodes 2 and 3, node 1 to nodes 4 and 5.
Tree six_hosts()
{
    Tree tree;
    tree.hosts = {"a", "b", "c", "d", "e", "f"};
    tree.fanout = 2;
    tree.rsh = {"ssh"};
    return tree;
}

} // namespace

TEST_CASE("nodes: the ranks wait for the last daemon")
{
    Tree tree;
    tree.hosts = {"a", "b"};
    Nodes nodes(tree);
    nodes.on_hello(1, {"", 4});
    CHECK_FALSE(nodes.ready());
    nodes.on_hello(0, {"", 0});
    CHECK(nodes.ready());
    CHECK(nodes.cores() == Numbers{1, 4});
}

TEST_CASE("nodes: daemons that look for networks have to answer, too")
{
    Tree tree;
    tree.hosts = {"a"};
    tree.backends = {"udp"};
    Nodes nodes(tree);
    nodes.on_hello(0, {"", 1});
    CHECK_FALSE(nodes.ready());
    nodes.on_networks(0, {{{"udp", "", ""}}});
    CHECK(nodes.ready());
    CHECK(nodes.networks()[0].found[0].backend == "udp");
}

TEST_CASE("nodes: those behind a lost one are lost with it")
{
    const Tree tree = six_hosts();
    Nodes nodes(tree);
    for (const std::uint32_t node : {0, 2, 3})
        nodes.on_done(node);
    CHECK_FALSE(nodes.on_lost(0)); // had all been done
    nodes.on_done(1);
    CHECK_FALSE(nodes.all_done());
    CHECK(nodes.on_lost(1)); // 4 and 5 had not
    CHECK(nodes.all_done());
    CHECK_FALSE(nodes.on_lost(4));
}

TEST_CASE("nodes: those of one machine are lost one by one")
{
    Tree tree = six_hosts();
    tree.rsh.clear();
    Nodes nodes(tree);
    CHECK(nodes.on_lost(0));
    CHECK(nodes.on_lost(2));
}

TEST_CASE("ranks: a node may speak of its own ranks only")
{
    Plan plan;
    Ranks ranks(plan);
    CHECK_THROWS_AS(ranks.check(0, 0), Failure); // there is none yet
    plan.tree = six_hosts();
    plan.job.node_of = {0, 1};
    CHECK_NOTHROW(ranks.check(1, 1));
    CHECK_THROWS_AS(ranks.check(1, 0), Failure);
    CHECK_THROWS_AS(ranks.check(0, 2), Failure);
}

TEST_CASE("ranks: messages name the host if there are several")
{
    Plan plan;
    plan.tree = six_hosts();
    plan.job.node_of = {0, 1};
    Ranks ranks(plan);
    CHECK(ranks.name(1) == "rank 1 (pid 0 on b)");
    ranks.on_started({1, 77});
    CHECK(ranks.name(1) == "rank 1 (pid 77 on b)");
    plan.tree.rsh.clear();
    CHECK(ranks.name(1) == "rank 1 (pid 77)");
}
