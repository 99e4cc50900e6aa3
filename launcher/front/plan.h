// SPDX-License-Identifier: BSD-3-Clause
//
// The plan of a job: what the command line asks for, as the messages that the daemons get.  Reads
// the environment and, for --stage, the program's file; starts nothing.
#pragma once

#include <vector>

#include "common/protocol.h"
#include "front/options.h"

namespace unetrun {

struct Plan {
    Options options;
    Tree tree; // with those hosts only that may get a rank
    Job job;   // has no ranks before place_ranks
};

// Throws Failure if the job cannot be run.
Plan make_plan(const Options &options);

// Gives each rank its node.  `cores` are the numbers of the nodes' cores.  Throws Failure.
void place_ranks(Plan &plan, const std::vector<std::uint32_t> &cores);

} // namespace unetrun
