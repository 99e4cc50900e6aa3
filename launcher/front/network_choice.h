// SPDX-License-Identifier: BSD-3-Clause
//
// Which network the ranks of different nodes use if the user leaves the choice to unetrun: the best
// one that every node has.
#pragma once

#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// The backends to choose from, the best first; none if the user has chosen (SPLITC_BACKEND).
std::vector<std::string> backends_to_try(const std::vector<std::string> &environment);

struct NetworkChoice {
    std::string backend; // empty: the nodes have none in common
    std::string why;     // for the user
};

// The first of `backends` that every node has; for one over Ethernet, all nodes have to be in the
// same IP network.  `hosts` are the names of the nodes.
NetworkChoice choose_network(const std::vector<std::string> &backends,
                             const std::vector<Networks> &nodes,
                             const std::vector<std::string> &hosts);

} // namespace unetrun
