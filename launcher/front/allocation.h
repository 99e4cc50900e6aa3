// SPDX-License-Identifier: BSD-3-Clause
//
// What a batch system has given us, which unetrun does not take by itself.
#pragma once

#include <string>
#include <vector>

#include "front/options.h"

namespace unetrun {

// What to tell a user whose job stays on this machine with a rank while a batch system's
// allocation (as `environment` tells, NAME=VALUE) has room for more; empty: nothing.
std::string untaken_allocation(const Options &options, const std::vector<std::string> &environment);

} // namespace unetrun
