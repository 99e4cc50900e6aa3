// SPDX-License-Identifier: BSD-3-Clause
//
// The daemon of one node: runs the PMIx server, starts the node's ranks, looks after
// their pipes and their deaths, and does what the front end says.  When the front end,
// or the relay between, is gone, so are, soon after, the ranks, all they have started,
// and the daemon.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "common/job_directory.h"
#include "common/link.h"
#include "common/mailbox.h"
#include "common/process.h"
#include "common/signals.h"
#include "node/deadlock_watch.h"
#include "node/memory_watch.h"
#include "node/pmix_node.h"
#include "node/rank.h"
#include "node/status_board.h"
#include "node/topology.h"

namespace unetrun {

class Daemon final : public PmixHost {
public:
    // Talks to the front end over `in` and `out`.
    Daemon(Fd in, Fd out);
    void run(); // until the job is over and the front end has hung up
    void remove_directory() { directory_.reset(); }

private:
    template <class Message> void send(const Message &message)
    {
        link_.send(message, tree_ ? tree_->node : 0);
    }

    // from the front end
    void on_frame(const Frame &frame);
    void on_tree(const Tree &tree);
    void on_job(Job job);
    void on_signal(int number);
    void on_end(int signal, std::chrono::milliseconds grace);
    void on_lost();
    PmixServer &server();

    // from the ranks, by PMIx
    void rank_joined(std::uint32_t rank) override;
    void rank_left(std::uint32_t rank) override;
    void rank_aborted(const Aborted &abort) override { send(abort); }
    void fence(const Fence &fence) override { send(fence); }
    void modex(const Modex &modex) override { send(modex); }
    void modex_done(const ModexDone &done) override { send(done); }

    // starting
    void look_for_networks();
    void prepare();
    void require_resources() const;
    std::uint32_t ranks_here() const;
    void bind_ranks();
    void find_program_file();
    void tell_prepared(Clock::duration took);
    std::size_t index_of(std::uint32_t rank) const; // among the node's ranks
    void find_wrapper();
    void make_board();
    void make_input();
    bool is_real_node() const; // and not one of several that one machine acts as
    void warn_of_mpi();
    void start_next();
    void start(Rank &rank);
    bool is_wrapped(std::uint32_t rank) const;
    Spawn spawn_of(std::uint32_t rank);
    std::vector<std::string> environment_of(std::uint32_t rank);
    void add_places(std::vector<std::string> &environment) const;
    void fail(const Failure &failure);

    // their output
    void emit(std::uint32_t rank, Stream stream, std::string_view bytes);
    void watch_output();
    void pass_on_output();

    // what they are at
    void inspect(bool asked);
    std::vector<std::string> places_of_waits(const std::vector<splitc_status> &all) const;
    void watch_for_deadlock();

    // ending
    void reap();
    void report(Rank &rank, int status);
    std::string place_of_fault(const Rank &rank);
    void advance_end();
    bool drain();
    bool all_started() const { return next_ == ranks_.size(); }
    Deadline next_deadline() const;

    Poller poller_;
    Signals signals_;
    Mailbox mailbox_;
    Link link_;

    std::optional<Tree> tree_;
    std::optional<Job> job_;
    std::vector<std::uint32_t> numbers_; // of the node's ranks, ascending
    std::unique_ptr<JobDirectory> directory_;
    Topology topology_; // before the server, which uses it
    std::unique_ptr<PmixServer> server_;
    std::vector<cpu_set_t> processors_;  // by local rank; empty: not bound
    std::unique_ptr<StatusBoard> board_; // none: the system has no memory for it
    DeadlockWatch deadlock_watch_;
    Deadline look_at_; // the ranks
    bool stuck_ = false;
    std::uint32_t stuck_round_ = 0; // in which the front end asks; 0: it does not
    std::string program_;
    std::string wrapper_; // the file of the program that runs ours
    std::vector<Rank> ranks_;
    std::size_t next_ = 0; // the rank to start
    std::unordered_map<pid_t, Rank *> running_;
    std::unique_ptr<InputPipe> input_;
    Fd input_end_;          // rank 0's, until it is started
    rlim_t open_files_ = 0; // the soft limit as we found it
    const MemoryWatch memory_watch_;

    std::int64_t room_ = output_window; // for output, until the front end gives credit
    bool output_watched_ = false;
    bool sought_place_ = false; // in the source, of a rank's fault
    bool childless_ = false;    // all ranks have been started and every child is gone
    bool done_ = false;         // and told so
    Deadline kill_at_;
};

// The daemon's main function; its front end is at descriptors 0 and 1.
[[noreturn]] int daemon_main();

} // namespace unetrun
