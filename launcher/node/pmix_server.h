// SPDX-License-Identifier: BSD-3-Clause
//
// The PMIx server of one node: tells the ranks about the job, and its host what the ranks do.
// No other file of the launcher calls PMIx.
#pragma once

#include <hwloc.h>
#include <string>
#include <vector>

#include "common/mailbox.h"
#include "common/protocol.h"

namespace unetrun {

// The owner of the server; called in the thread of the event loop.
class PmixHost {
public:
    virtual void rank_joined(std::uint32_t rank) = 0; // PMIx_Init
    virtual void rank_left(std::uint32_t rank) = 0;   // PMIx_Finalize
    virtual void rank_aborted(const Aborted &abort) = 0;
    virtual void fence(const Fence &fence) = 0;         // to be answered by finish_fence
    virtual void modex(const Modex &modex) = 0;         // to be answered by finish_modex
    virtual void modex_done(const ModexDone &done) = 0; // the answer to look_up

protected:
    ~PmixHost() = default;
};

struct PmixState;

// There is one in a process, and it lives as long as the process does: the library keeps its state
// in global variables, its threads may call back at any time, and PMIx_server_finalize (4.2) waits
// for ever if a client connects at that moment.
class PmixServer {
public:
    // `node` is the one that it runs on.  `directory`, for its files, and `topology` have to
    // outlive it.  Throws Failure.
    PmixServer(const Job &job, std::uint32_t node, const std::string &directory,
               hwloc_topology_t topology, Mailbox &mailbox, PmixHost &host);
    PmixServer(const PmixServer &) = delete;
    PmixServer &operator=(const PmixServer &) = delete;

    // Registers a rank of this node.  Returns the variables that it needs, NAME=VALUE.
    std::vector<std::string> environment_of(std::uint32_t rank);

    void finish_fence(const FenceDone &done);
    void finish_modex(const ModexDone &done);

    // Another node asks what a rank of this node has published.
    void look_up(const Modex &modex);

private:
    PmixState &state_;
};

std::string pmix_version();

} // namespace unetrun
