// SPDX-License-Identifier: BSD-3-Clause
//
// The front end's part of finding a deadlock: judges from what the daemons tell whether the ranks
// of all nodes wait for ever.
//
// A wait ends by a message, or by what another rank of the node writes.  So when all ranks wait,
// have looked for an event several times in vain, and no message is on its way, nothing will ever
// happen.  Each daemon watches the ranks of its node (node/deadlock_watch.h).  A message between
// nodes is on its way if the sum of what all nodes have sent exceeds the sum of what they have
// received.  Daemons report at different times, so the front end asks all of them once more: a
// daemon that then reports the same numbers has had no message in between, and if all do, all
// were stuck at the moment of the question.
#pragma once

#include <vector>

#include "common/protocol.h"

namespace unetrun {

class DeadlockJudge {
public:
    explicit DeadlockJudge(std::size_t nodes) : nodes_(nodes) {}

    enum class Verdict { nothing, ask, deadlock };

    // A node has told whether its ranks are stuck, by itself or in answer to a question.  `ask`
    // means that all nodes are to be asked, in the round round().
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
    std::uint32_t round_ = 0; // the latest; an answer to no question has round 0
    bool asking_ = false;
};

} // namespace unetrun
