// SPDX-License-Identifier: BSD-3-Clause
//
// The daemon of one node: receives the messages of the front end, looks for networks before there
// is a job, and passes all that concerns the job to Supervisor.  When the front end or the relay in
// between is gone, the ranks, all they have started and the daemon end soon after.
#pragma once

#include <memory>
#include <optional>

#include "common/mailbox.h"
#include "common/signals.h"
#include "node/supervisor.h"
#include "node/topology.h"
#include "node/uplink.h"

namespace unetrun {

class Daemon {
public:
    // Talks to the front end over `in` and `out`.
    Daemon(Fd in, Fd out);
    void run(); // until the job is over and the front end has closed the link
    void remove_directory();

private:
    void on_frame(const Frame &frame);
    void on_tree(const Tree &tree);
    void on_job(Job job);
    void on_job_frame(const Frame &frame);
    void on_frame_without_job(const Frame &frame);

    Poller poller_;
    Signals signals_; // before anything starts a thread
    Mailbox mailbox_;
    Topology topology_;
    Uplink uplink_;
    std::optional<Tree> tree_;
    std::unique_ptr<Supervisor> supervisor_; // once there is a job
};

// The daemon's main function; its front end is at descriptors 0 and 1.
[[noreturn]] int daemon_main();

} // namespace unetrun
