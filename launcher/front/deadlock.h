// SPDX-License-Identifier: BSD-3-Clause
//
// Finding out that ranks wait for ever.
//
// A wait ends by a message, or by what another rank of the node writes.  So when all ranks
// wait, look again and again, without success, and no message is on its way, nothing will
// ever happen.  Each daemon watches the ranks of its node; what is on its way between nodes,
// only the sums of what all have sent and received can tell.  Daemons speak at different
// times, so the front end asks them once more: who then says the same has had no message
// in between, so all were stuck at the moment of asking.
#pragma once

#include <split-c/status.h>
#include <vector>

#include "common/protocol.h"

namespace unetrun {

// The daemon's part.
class DeadlockWatch {
public:
    // Looks at all ranks, now and then: whether they have been stuck for some looks, and what
    // they have sent and received until now.
    Stuck look(const std::vector<splitc_status> &now);

private:
    std::vector<splitc_status> before_;
    int quiet_ = 0;
};

// The front end's part.
class DeadlockJudge {
public:
    explicit DeadlockJudge(std::size_t nodes) : nodes_(nodes) {}

    enum class Verdict { nothing, ask, deadlock };

    // What a node says: of itself, or as the answer to a round of questions.  `ask`: ask all
    // nodes in the round round().
    Verdict hear(std::uint32_t node, const Stuck &said);
    std::uint32_t round() const { return round_; }

private:
    struct Node {
        Stuck said;
        bool confirmed = false; // in this round
    };
    bool all_stuck() const;
    bool all_confirmed() const;
    void forget_round();

    std::vector<Node> nodes_;
    std::uint32_t round_ = 0; // the latest; what is said without a question has none, 0
    bool asking_ = false;
};

} // namespace unetrun
