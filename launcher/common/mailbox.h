// SPDX-License-Identifier: BSD-3-Clause
//
// Hands work from other threads to the thread of the event loop.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "common/fd.h"
#include "common/poller.h"

namespace unetrun {

class Mailbox {
public:
    explicit Mailbox(Poller &poller);
    ~Mailbox() { poller_.forget(bell_.get()); }
    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;

    void post(std::function<void()> work); // from any thread
    void run(); // does what has been posted.  The event loop calls it as well

private:
    Poller &poller_;
    Fd bell_; // an eventfd
    std::mutex mutex_;
    std::vector<std::function<void()>> posted_;
};

} // namespace unetrun
