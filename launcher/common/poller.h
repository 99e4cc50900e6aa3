// SPDX-License-Identifier: BSD-3-Clause
//
// The event loop of front end and daemon: descriptors with handlers, over poll(2)
// because standard input may be a regular file, which epoll refuses.
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

    // Calls `handler` whenever one of `events` (or an error) is there.  A descriptor
    // has one handler; watching it again replaces it.  Handlers may watch and forget.
    void watch(int fd, short events, Handler handler);
    void forget(int fd) { watches_.erase(fd); }

    // Waits until something happens or `deadline` is reached, and runs the handlers.
    void run_once(Deadline deadline);

private:
    struct Watch {
        short events;
        std::shared_ptr<Handler> handler; // shared: survives being forgotten while it runs
    };
    std::map<int, Watch> watches_;
    std::vector<pollfd> ready_;
};

std::string in_milliseconds(Clock::duration time); // "12.3 ms"

// The earlier of two deadlines.
Deadline earlier(Deadline a, Deadline b);

} // namespace unetrun
