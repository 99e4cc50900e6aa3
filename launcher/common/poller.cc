// SPDX-License-Identifier: BSD-3-Clause

#include "common/poller.h"

#include <algorithm>
#include <climits>

#include "common/failure.h"

namespace unetrun {

namespace {

// Rounded up, or the loop would spin during the last millisecond.
int milliseconds_until(Deadline deadline)
{
    if (!deadline)
        return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 0, INT_MAX));
}

} // namespace

void Poller::watch(int fd, short events, Handler handler)
{
    watches_[fd] = {events, std::make_shared<Handler>(std::move(handler))};
}

void Poller::run_once(Deadline deadline)
{
    ready_.clear();
    for (const auto &[fd, watch] : watches_)
        ready_.push_back({fd, watch.events, 0});
    if (poll(ready_.data(), ready_.size(), milliseconds_until(deadline)) < 0) {
        if (errno == EINTR)
            return;
        throw system_failure("poll");
    }
    for (const pollfd &entry : ready_) {
        if (entry.revents == 0)
            continue;
        const auto found = watches_.find(entry.fd);
        if (found == watches_.end())
            continue;
        const std::shared_ptr<Handler> handler = found->second.handler;
        (*handler)();
    }
}

std::string in_milliseconds(Clock::duration time)
{
    const auto tenths = std::chrono::round<std::chrono::microseconds>(time).count() / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

Deadline earlier(Deadline a, Deadline b)
{
    if (!a || !b)
        return a ? a : b;
    return std::min(*a, *b);
}

} // namespace unetrun
