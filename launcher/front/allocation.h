// SPDX-License-Identifier: BSD-3-Clause
//
// Notices that a batch system has given the user more than unetrun will use.
#pragma once

#include <string>
#include <vector>

#include "front/options.h"

namespace unetrun {

// What to tell a user whose job has one rank on this machine although there is a batch system's
// allocation for more, as `environment` (NAME=VALUE) says; empty if there is nothing to tell.
std::string untaken_allocation(const Options &options, const std::vector<std::string> &environment);

} // namespace unetrun
