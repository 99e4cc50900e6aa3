// SPDX-License-Identifier: BSD-3-Clause
//
// Looks after the node's ranks from the arrival of the job until nothing is left of them: prepares
// the node, starts the ranks, and collects those that exit.  It calls the parts that look after one
// thing each; of them only the PMIx server calls back, by PmixHost.
#pragma once

#include <memory>

#include "common/job_directory.h"
#include "common/mailbox.h"
#include "node/memory_watch.h"
#include "node/pmix_server.h"
#include "node/rank_output.h"
#include "node/rank_starter.h"
#include "node/rank_table.h"
#include "node/rank_watch.h"

namespace unetrun {

class Supervisor final : public PmixHost {
public:
    // What it shares with the daemon, which outlives it.
    struct Shared {
        Poller &poller;
        Mailbox &mailbox;
        Uplink &uplink;
        const Topology &topology;
        const sigset_t &signals; // the mask of the ranks
    };

    // Prepares the node.  If that is impossible, tells the front end why, and starts no rank.
    Supervisor(const Shared &daemon, Job job, const Tree &tree);

    // To be called after each turn of the event loop, which waits until next_deadline() at most.
    void advance();
    Deadline next_deadline() const;
    bool childless() const { return childless_; } // all ranks, and all they started, are gone

    void reap(); // some child has exited
    void remove_directory() { directory_.reset(); }

    // from the front end
    PmixServer &server();
    void on_input(const std::string &bytes);
    void on_credit(std::uint32_t bytes) { output_.give_credit(bytes); }
    void on_inspect(bool asked);
    void on_ask_stuck(std::uint32_t round);
    void on_signal(int number) { ranks_.signal_all(number); }
    // `slow`: because the ranks have not come to their ends.
    void on_end(int signal, std::chrono::milliseconds grace, bool slow);
    void on_front_end_lost();

private:
    // from the ranks, by PMIx
    void rank_joined(std::uint32_t rank) override;
    void rank_left(std::uint32_t rank) override { ranks_.of(rank).left = true; }
    void rank_aborted(const Aborted &abort) override { daemon_.uplink.send(abort); }
    void fence(const Fence &fence) override { daemon_.uplink.send(fence); }
    void modex(const Modex &modex) override { daemon_.uplink.send(modex); }
    void modex_done(const ModexDone &done) override { daemon_.uplink.send(done); }

    // starting
    void prepare();
    void require_resources() const;
    void make_input();
    void warn_of_mpi();
    void tell_prepared(Clock::duration took);
    void start_some();
    void start_next();
    void note(const std::string &text);
    void fail(const Failure &failure);

    // ending
    void report(const RankProcess &rank, int status);
    bool tells_stack(int status);
    void advance_end();

    const Shared daemon_;
    NodeJob job_;
    RankTable ranks_;
    RankOutput output_;
    const MemoryWatch memory_watch_;
    std::unique_ptr<JobDirectory> directory_;
    std::unique_ptr<RankStarter> starter_;
    std::unique_ptr<PmixServer> server_;
    std::unique_ptr<RankWatch> watch_;
    std::unique_ptr<InputPipe> input_; // of rank 0
    Fd input_end_;                     // rank 0's end of it, until that is started
    Deadline kill_at_;                 // when whatever is left is killed
    bool slow_ = false;                // the ranks are ended for not coming to their ends
    bool any_died_ = false;            // before anybody ended them
    bool childless_ = false;
    bool done_ = false; // the front end knows that it is
};

} // namespace unetrun
