// SPDX-License-Identifier: BSD-3-Clause
//
// The front end of a job: passes what daemons, ranks and the user do to the part that looks after
// it, and what follows from it back.  It calls all parts; they call each other only where a
// constructor says so, and the front end only by the functions that they are given.
#pragma once

#include <optional>

#include "common/signals.h"
#include "front/deadlock_judge.h"
#include "front/exchange.h"
#include "front/input_source.h"
#include "front/nodes.h"
#include "front/outcome.h"
#include "front/plan.h"
#include "front/ranks.h"
#include "front/start_progress.h"
#include "front/terminal.h"
#include "tree/branches.h"

namespace unetrun {

class FrontEnd final : public BranchHost {
public:
    // Starts the daemons.  Throws Failure.
    explicit FrontEnd(const Options &options);

    // Runs the job to its end and returns the exit code.  If nobody takes the ranks' output any
    // more, this gives up after a while, and output_pending() is true.
    int run();
    bool output_pending() const { return terminal_.pending(); }

private:
    // before the ranks
    void launch_if_ready();
    void choose_network();
    void launch();
    void open_output_files();
    bool launched() const { return exchange_.has_value(); }
    void tell_progress(std::size_t done, std::size_t all, const char *what);

    // from the daemons
    void on_branch_frame(std::uint32_t branch, const Frame &frame) override;
    void on_branch_lost(std::uint32_t node, const Failure &why) override;
    void on_words(const std::string &line) override { terminal_.say(line); }
    void on_failed(std::uint32_t node, const Failed &failed);
    void on_stuck(std::uint32_t node, const Stuck &stuck);
    template <class OfRank> OfRank take_of_rank(const Frame &frame) const;
    Exchange &exchange();

    // from the user and the terminal
    void on_signal(int number);
    void suspend();
    void on_output_broken(const std::string &file, int error);

    // the end
    void fail(const Failure &why, bool slow = false); // see End::slow
    void fail_if(const std::optional<Failure> &why);
    void end_ranks(int signal, std::chrono::milliseconds grace);
    void check_deadlines();
    Deadline next_deadline() const;
    bool over() const;
    void clean_up();

    Poller poller_;
    Signals signals_; // before anything starts a thread
    Mailbox mailbox_;
    const Clock::time_point begin_ = Clock::now();
    Plan plan_;
    Nodes nodes_;
    Ranks ranks_;
    StartProgress start_progress_{begin_};
    Outcome outcome_;
    Branches branches_;
    InputSource input_;
    std::optional<Exchange> exchange_;   // once the ranks have places
    std::optional<DeadlockJudge> judge_; // the same
    Deadline timeout_at_;                // --timeout
    Deadline abandon_at_;                // when to give up output that nobody takes
    std::vector<Fd> output_fifos_;       // those of --output, open until all is written
    Terminal terminal_;                  // last, as its threads use the mailbox
};

} // namespace unetrun
