// SPDX-License-Identifier: BSD-3-Clause
//
// Starts the processes of the node's ranks: finds their programs, and decides with which
// environment, processors and limits each one begins.  Calls binding, rank_environment and spawn;
// sends nothing.
#pragma once

#include <string>
#include <vector>

#include "common/job_directory.h"
#include "common/process.h"
#include "node/node_job.h"
#include "node/topology.h"

namespace unetrun {

class RankStarter {
public:
    // Looks for the programs, or makes the copies of them that came with the job, and for the
    // program that they are to run in (--gdb).  `signals` is the mask of the ranks, `open_files`
    // their soft limit.  The job and the topology have to outlive it.  Throws Failure.
    RankStarter(NodeJob &job, const JobDirectory &directory, const Topology &topology,
                const sigset_t &signals, rlim_t open_files);

    const std::string &program_of(std::uint32_t rank) const; // its file
    std::vector<std::string> programs() const;               // the files of the node's ranks

    // Starts a rank with these descriptors as its 0, 1 and 2, and `own` as those variables that
    // PMIx server and status board have for it.  Returns its pid.  Throws Failure.
    pid_t start(std::uint32_t rank, const std::vector<std::string> &own, int in, int out,
                int err) const;

    // What the user is to be told of the binding if ranks have to share cores; empty: nothing.
    std::string binding_note() const;
    std::string binding() const; // in words
    std::string binding_of(std::uint32_t rank) const;

private:
    bool is_wrapped(std::uint32_t rank) const;

    const NodeJob &job_;
    const Topology &topology_;
    const sigset_t signals_;
    const rlim_t open_files_;
    std::vector<std::string> programs_; // their files; empty: no rank of the node runs it
    std::string wrapper_;               // the file of the program that runs the ranks' one
    std::vector<cpu_set_t> processors_; // by index of the rank; empty: not bound
};

} // namespace unetrun
