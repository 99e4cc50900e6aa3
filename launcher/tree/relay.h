// SPDX-License-Identifier: BSD-3-Clause
//
// A relay stands between the front end and the daemon of another host, on that host: it starts the
// daemon and the relays below it, passes messages on, and cleans up after a daemon that was killed.
#pragma once

#include "common/signals.h"
#include "tree/branches.h"
#include "tree/fence.h"

namespace unetrun {

class Relay final : public BranchHost {
public:
    // Talks to the front end, or the relay above, over `in` and `out`.
    Relay(Fd in, Fd out);
    void run(); // until the place above closes the link

private:
    // from above
    void on_frame(const Frame &frame);
    void on_tree(const Frame &frame);
    void on_job(const Frame &frame);
    void check_link();

    // from below
    void on_branch_frame(std::uint32_t branch, const Frame &frame) override;
    void on_branch_lost(std::uint32_t node, const Failure &why) override;
    void on_words(const std::string &line) override;
    void on_fence(std::uint32_t branch, const Frame &frame);
    void answer(const FenceGatherer::Answers &answers);

    Poller poller_;
    Signals signals_;
    Link link_;
    bool suspended_ = false; // the front end is, and sends nothing
    std::optional<Tree> tree_;
    std::optional<FenceGatherer> fences_; // once the job is known
    Branches branches_;
};

// The relay's main function; the place above is at descriptors 0 and 1.
int relay_main();

} // namespace unetrun
