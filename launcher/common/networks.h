// SPDX-License-Identifier: BSD-3-Clause
//
// Which networks this machine has for ranks.
#pragma once

#include <string>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// The variables that say where the endpoints of ranks are, UNET_UDP_ADDRESS and others.  Those that
// `environment` lacks get the address to which the remote shell came, or "auto".
std::vector<std::string> places_of(const std::vector<std::string> &environment);

// Whether this node can be reached by each of the backends, and in which network.  Looks at the
// places that the environment of this process names.
Networks look_for_networks(const std::vector<std::string> &backends);

} // namespace unetrun
