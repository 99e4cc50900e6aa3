// SPDX-License-Identifier: BSD-3-Clause

#include "common/mailbox.h"

#include <sys/eventfd.h>

namespace unetrun {

Mailbox::Mailbox(Poller &poller) : poller_(poller), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!bell_)
        throw system_failure("eventfd");
    poller_.watch(bell_.get(), POLLIN, [this] { run(); });
}

void Mailbox::post(std::function<void()> work)
{
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    eventfd_write(bell_.get(), 1);
}

void Mailbox::run()
{
    eventfd_t ignored;
    eventfd_read(bell_.get(), &ignored);
    std::vector<std::function<void()>> posted;
    {
        const std::lock_guard lock(mutex_);
        posted.swap(posted_);
    }
    for (const auto &work : posted)
        work();
}

} // namespace unetrun
