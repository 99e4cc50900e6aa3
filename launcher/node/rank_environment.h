// SPDX-License-Identifier: BSD-3-Clause
//
// The environment that a rank is started with (docs/unetrun.md lists it).
#pragma once

#include <string>
#include <vector>

#include "node/node_job.h"

namespace unetrun {

// The user's variables, except for those that place a process in another PMIx job; those of the
// program alone; what unetrun tells the rank; and `own`, which PMIx server and status board have
// for this rank.  `cores` is the number of this machine's.
std::vector<std::string> rank_environment(const NodeJob &job, const Program &program,
                                          const std::vector<std::string> &own, std::uint32_t cores);

} // namespace unetrun
