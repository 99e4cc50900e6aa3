// SPDX-License-Identifier: BSD-3-Clause

#include "front/deadlock_judge.h"

#include <algorithm>

namespace unetrun {

DeadlockJudge::Verdict DeadlockJudge::hear(std::uint32_t node, const Stuck &said)
{
    if (node >= nodes_.size())
        return Verdict::nothing; // it has no ranks
    Node &teller = nodes_[node];
    const bool same = said.stuck == teller.said.stuck && said.sent == teller.said.sent &&
                      said.received == teller.said.received;
    teller.said = said;
    if (!same)
        forget_round();
    else if (asking_ && said.round == round_)
        teller.confirmed = true;
    if (!all_stuck())
        return Verdict::nothing;
    if (asking_)
        return all_confirmed() ? Verdict::deadlock : Verdict::nothing;
    asking_ = true;
    round_++;
    return Verdict::ask;
}

// And no message is on its way, if all had said it at one time.
bool DeadlockJudge::all_stuck() const
{
    std::uint64_t under_way = 0;
    for (const Node &node : nodes_) {
        if (!node.said.stuck)
            return false;
        under_way += node.said.sent - node.said.received;
    }
    return under_way == 0;
}

bool DeadlockJudge::all_confirmed() const
{
    return std::all_of(nodes_.begin(), nodes_.end(), [](const Node &n) { return n.confirmed; });
}

void DeadlockJudge::forget_round()
{
    asking_ = false;
    for (Node &node : nodes_)
        node.confirmed = false;
}

} // namespace unetrun
