// SPDX-License-Identifier: BSD-3-Clause
//
// Which networks this machine has for ranks.
#pragma once

#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// Where the endpoints of this node's ranks are: UNET_INTERFACE in `environment`, or else the
// address to which the remote shell came, or "auto".
std::string interface_of(const std::vector<std::string> &environment);

// Whether any interface of this machine is up and has an IP address; the loopback counts.
bool any_interface_is_up();

// Whether this node can be reached by each of the backends, and in which network.  Looks where
// UNET_INTERFACE of this process says.
Networks look_for_networks(const std::vector<std::string> &backends);

} // namespace unetrun
