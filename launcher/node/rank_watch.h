// SPDX-License-Identifier: BSD-3-Clause
//
// Watches what the ranks of the node do, by the status board that they write: tells the user, and
// finds out whether all of them wait in vain.  Calls StatusBoard, DeadlockWatch and Uplink.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/deadlock_watch.h"
#include "node/rank_table.h"
#include "node/source_place.h"
#include "node/status_board.h"
#include "node/uplink.h"

namespace unetrun {

class RankWatch {
public:
    // All have to outlive it.  `program` is the file that the ranks run.  If there is no memory
    // for the board, the user is told, and nothing is watched.
    RankWatch(const NodeJob &job, const RankTable &ranks, const std::string &program,
              Uplink &uplink);

    // The variable that shows a rank its page of the board, NAME=VALUE; empty without a board.
    std::string variable_of(std::uint32_t rank) const;

    // Reports every rank that runs.  Unless the user has asked for it, does nothing if no rank
    // runs a Split-C program.
    void inspect(bool asked) const;

    // Where in the source a rank was when its fault ended it; empty if that is not known, and for
    // all ranks but the first one that is asked about: a look-up may take seconds, and the front
    // end tells the user of no other.
    std::string place_of_fault(std::uint32_t rank);

    // Reports the stack of a rank that has died, frame by frame, or why it is not known.
    void report_stack(std::uint32_t rank, int status);

    // Looks for a deadlock from now on.  look() is to be called when next_look() has come.
    void begin();
    Deadline next_look() const { return look_at_; }
    void look();
    // The front end asks whether all wait; the next look answers.
    void ask(std::uint32_t round) { round_ = round; }

private:
    std::vector<splitc_status> read_all() const;
    CodeAddress address_of(const splitc_status &status, const splitc_code &code) const;
    void look_up(const std::vector<CodeAddress> &addresses);
    std::vector<std::string> places_of_waits(const std::vector<splitc_status> &all) const;

    const NodeJob &job_;
    const RankTable &ranks_;
    const std::string &program_;
    Uplink &uplink_;
    std::unique_ptr<StatusBoard> board_;                  // null: there was no memory for it
    bool sought_place_ = false;                           // of a fault
    std::map<CodeAddress, std::vector<CodePlace>> known_; // what stacks have led through
    Clock::duration looked_{0};                           // so long, for those
    DeadlockWatch deadlock_watch_;
    Deadline look_at_;
    bool stuck_ = false;      // as told to the front end
    std::uint32_t round_ = 0; // in which the front end asks; 0: it does not
};

} // namespace unetrun
