// SPDX-License-Identifier: BSD-3-Clause
//
// Signals as events of the event loop.
#pragma once

#include <functional>
#include <initializer_list>
#include <signal.h>

#include "common/fd.h"
#include "common/poller.h"

namespace unetrun {

class Signals {
public:
    // Blocks all signals for as long as the process lives; writing to a broken pipe is an error
    // then.  Those of `numbers` go to `on_signal`, except for those that are ignored: nohup and
    // shells have processes ignore what they should not react to.
    Signals(Poller &poller, std::initializer_list<int> numbers,
            std::function<void(int number)> on_signal);
    ~Signals() { poller_.forget(fd_.get()); }
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;

    // The mask from before, for the processes that this one starts.
    const sigset_t &mask_before() const { return before_; }

private:
    Poller &poller_;
    sigset_t before_;
    Fd fd_; // a signalfd
};

} // namespace unetrun
