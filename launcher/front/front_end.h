// SPDX-License-Identifier: BSD-3-Clause
//
// The user's side of a job: starts a daemon per node, gives each rank a place, connects
// the ranks with the terminal, decides when the job is over and how it ended.
#pragma once

#include <memory>
#include <vector>

#include "common/mailbox.h"
#include "front/deadlock_judge.h"
#include "front/input_source.h"
#include "front/line_merger.h"
#include "front/options.h"
#include "front/sink.h"
#include "tree/branches.h"
#include "tree/fence.h"

namespace unetrun {

class FrontEnd final : public BranchHost {
public:
    explicit FrontEnd(const Options &options);
    ~FrontEnd();

    // Runs the job to its end; the exit code.  Output that nobody takes may be left over
    // when a time limit has passed: see output_pending.
    int run();
    bool output_pending() const;

private:
    struct Node {
        std::uint32_t cores = 0;          // 0: its daemon has not said hello
        std::optional<Networks> networks; // by which it can be reached, if it was asked
        bool done = false;                // all that it had to do and to say
    };

    // starting
    void on_hello(const Frame &frame);
    void on_networks(const Frame &frame);
    void launch_if_ready();
    void choose_network();
    void launch();

    // from the daemons
    void on_branch_frame(std::uint32_t branch, const Frame &frame) override;
    void on_branch_lost(std::uint32_t node, const Failure &why) override;
    void on_words(const std::string &line) override { say(line); }
    void on_joined();
    void on_exited(const Exited &exited);
    void on_failed(std::uint32_t node, const Failed &failed);
    void on_aborted(const Aborted &aborted);
    void on_report(const Report &report);
    void on_stuck(std::uint32_t node, const Stuck &stuck);
    void on_output(std::uint32_t node, const Output &output);
    void on_fence(std::uint32_t branch, const Fence &fence);
    void on_modex(std::uint32_t node, Modex modex);
    std::uint32_t check_rank(std::uint32_t node, std::uint32_t rank) const;
    std::string process(std::uint32_t rank) const;

    // from the user
    void on_signals();
    void on_signal(int number);
    void suspend();

    // to the user
    void say(const std::string &text);
    void on_written(const Written &written);
    Sink &sink(int fd) { return *sinks_[one_file_ ? 0 : fd - 1]; }
    LineMerger &merger(int fd) { return mergers_[one_file_ ? 0 : fd - 1]; }

    // ending
    void fail(int code, const std::string &why);
    void end_ranks(int signal, std::chrono::milliseconds grace);
    void check_stragglers();
    void check_deadlines();
    Deadline next_deadline() const;
    bool over() const;
    void clean_up();

    BlockedSignals signals_;
    Poller poller_;
    Mailbox mailbox_;
    Fd signal_fd_;
    Options options_;
    Clock::time_point begin_ = Clock::now();
    Tree tree_;
    Job job_; // has no ranks before launch()
    bool launched_ = false;
    std::vector<Node> nodes_;
    std::vector<pid_t> pids_;             // by rank
    std::optional<FenceGatherer> fences_; // once the ranks have places
    std::optional<DeadlockJudge> judge_;  // the same
    Branches branches_;
    InputSource input_;

    bool one_file_; // stdout and stderr are the same file: one sink keeps its lines apart
    bool broken_[2] = {false, false}; // nobody can read our stdout, stderr any more
    LineMerger mergers_[2];

    std::uint32_t exited_ = 0;       // ranks
    bool any_joined_ = false;        // the job, by PMIx_Init
    std::optional<Exited> outsider_; // a rank that succeeded without
    std::optional<int> code_;        // decided when the first rank fails
    int interrupted_ = 0;            // the signal by which the user ended the job
    bool ending_ = false;
    Deadline timeout_at_, abandon_at_; // the latter: of output that nobody takes
    std::unique_ptr<Sink> sinks_[2];   // last, as their threads use the mailbox
};

} // namespace unetrun
