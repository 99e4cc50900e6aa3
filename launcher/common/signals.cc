// SPDX-License-Identifier: BSD-3-Clause

#include "common/signals.h"

#include <sys/signalfd.h>

namespace unetrun {

namespace {

bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

Signals::Signals(Poller &poller, std::initializer_list<int> numbers,
                 std::function<void(int)> on_signal)
    : poller_(poller)
{
    sigset_t all, watched;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
    sigemptyset(&watched);
    for (const int number : numbers)
        if (!is_ignored(number)) // the kernel keeps a blocked signal even if it is ignored
            sigaddset(&watched, number);
    fd_ = Fd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_)
        throw system_failure("signalfd");
    poller_.watch(fd_.get(), POLLIN, [this, on_signal = std::move(on_signal)] {
        signalfd_siginfo info;
        while (read(fd_.get(), &info, sizeof info) == sizeof info)
            on_signal(static_cast<int>(info.ssi_signo));
    });
}

} // namespace unetrun
