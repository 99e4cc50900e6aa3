// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop of front end, relays and daemons: handlers for descriptors.  It uses poll, as
// standard input may be a regular file, which epoll refuses.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace unetrun {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>; // none: never

class Poller {
public:
    using Handler = std::function<void()>;

    // Calls `handler` whenever one of `events`, or an error, is pending.  A descriptor has one
    // handler: watching it again replaces it.  Handlers may call watch and forget.
    void watch(int fd, short events, Handler handler);
    void forget(int fd) { watches_.erase(fd); }

    // Waits for an event, but not beyond `deadline`, and calls the handlers of all that are
    // pending.
    void run_once(Deadline deadline);

private:
    struct Watch {
        short events;
        std::shared_ptr<Handler> handler; // shared, so that it can be forgotten while it runs
    };
    std::map<int, Watch> watches_;
    std::vector<pollfd> ready_;
};

std::string in_milliseconds(Clock::duration time); // "12.3 ms"

// The earlier of two deadlines.
Deadline earlier(Deadline a, Deadline b);

} // namespace unetrun
