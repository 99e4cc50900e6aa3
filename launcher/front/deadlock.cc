// SPDX-License-Identifier: BSD-3-Clause

#include "front/deadlock.h"

#include <algorithm>

#include "node/status_board.h"

namespace unetrun {

// ---- the daemon's part ------------------------------------------------------------------

namespace {

constexpr int quiet_looks = 4; // each with a look of every rank in between

// Still in the same wait, and no message came or went, but it looked again.
bool quiet(const splitc_status &before, const splitc_status &now)
{
    return is_waiting(before) && is_waiting(now) && now.waits == before.waits &&
           now.arrivals == before.arrivals && now.sent == before.sent &&
           now.received == before.received && now.held == 0 && now.looks > before.looks &&
           (now.tries == 0 || now.tries > before.tries);
}

} // namespace

Stuck DeadlockWatch::look(const std::vector<splitc_status> &now)
{
    bool all_quiet = !now.empty() && before_.size() == now.size();
    Stuck found;
    for (std::size_t i = 0; all_quiet && i < now.size(); i++) {
        all_quiet = quiet(before_[i], now[i]);
        found.sent += now[i].sent;
        found.received += now[i].received;
    }
    quiet_ = all_quiet ? quiet_ + 1 : 0;
    before_ = now;
    found.stuck = quiet_ >= quiet_looks;
    return found;
}

// ---- the front end's part -----------------------------------------------------------------

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
