// SPDX-License-Identifier: BSD-3-Clause
//
// The hosts that a batch system has given the job that unetrun runs in.
#pragma once

#include <string>
#include <vector>

#include "front/hosts.h"

namespace unetrun {

struct Allocation {
    std::string system;      // "Slurm"; empty: there is none
    std::vector<Host> hosts; // each with the ranks for which it has room, if the system says that
};

// What `environment` (NAME=VALUE) says: Slurm's, PBS', LSF's or Grid Engine's.  A list of hosts
// whose file is not there counts for nothing, as variables go to places where files do not.  Nor
// does any if a launcher has started unetrun itself as one of several processes: each is alone.
// Throws Failure (exit_usage) if it makes no sense.
Allocation allocation_of(const std::vector<std::string> &environment);

} // namespace unetrun
