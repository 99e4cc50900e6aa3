// SPDX-License-Identifier: BSD-3-Clause
//
// By which network the ranks of different nodes reach each other, if the user leaves it to us:
// the best one that every node has.
#pragma once

#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// The backends to choose from, the best first; none if there is nothing to choose.
std::vector<std::string> backends_to_try(const std::vector<std::string> &environment);

// Those of a job's variables that say where its endpoints are, completed by where the remote
// shell came to, or "auto": what a daemon looks for there its ranks will find.
std::vector<std::string> places_of(const std::vector<std::string> &environment);

// What ssh says of a connection from another host to this machine: the variable SSH_CONNECTION;
// empty if we do not know at which address that would come.
std::string connection_from(const std::string &host);

// By which of the backends this node can be reached; it has `places` in its environment.
Networks look_for_networks(const std::vector<std::string> &backends);

struct NetworkChoice {
    std::string backend; // empty: there is none that all have
    std::string why;     // for the user
};

// The first of the backends that every node has, of an Ethernet in the same network.
// `hosts` are the nodes' names.
NetworkChoice choose_network(const std::vector<std::string> &backends,
                             const std::vector<Networks> &nodes,
                             const std::vector<std::string> &hosts);

} // namespace unetrun
