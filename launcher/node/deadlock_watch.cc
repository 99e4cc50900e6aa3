// SPDX-License-Identifier: BSD-3-Clause

#include "node/deadlock_watch.h"

#include "node/status_board.h"

namespace unetrun {

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

} // namespace unetrun
