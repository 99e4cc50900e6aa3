// SPDX-License-Identifier: BSD-3-Clause
//
// What the front end knows of each node: what its daemon said at the start, and whether it is done.
// A table, which calls no other part.
#pragma once

#include <optional>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

class Nodes {
public:
    // `tree` has to outlive it.
    explicit Nodes(const Tree &tree) : tree_(tree), nodes_(tree.hosts.size()) {}

    std::size_t count() const { return nodes_.size(); }
    std::size_t started() const; // whose daemons have said hello
    void on_hello(std::uint32_t node, const Hello &hello);
    void on_networks(std::uint32_t node, Networks networks);
    void on_done(std::uint32_t node) { nodes_[node].done = true; }

    // A node is lost, and with it those that are reached by way of it.  Whether any of them had
    // not been done.
    bool on_lost(std::uint32_t top);

    bool ready() const;    // all daemons have said what is needed to place the ranks
    bool all_done() const; // or lost

    std::vector<std::uint32_t> cores() const; // of each node, at least 1
    std::vector<Networks> networks() const;   // of each node

private:
    struct Node {
        std::uint32_t cores = 0; // 0: its daemon has not said hello
        std::optional<Networks> networks;
        bool done = false;
    };

    const Tree &tree_;
    std::vector<Node> nodes_;
};

} // namespace unetrun
