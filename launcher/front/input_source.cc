// SPDX-License-Identifier: BSD-3-Clause

#include "front/input_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr int standard_input = 0;
constexpr auto look_period = 500ms; // a shell may move a job to the foreground without a signal

} // namespace

InputSource::InputSource(Poller &poller, OnInput on_input)
    : poller_(poller), on_input_(std::move(on_input))
{
}

void InputSource::give_room(std::size_t bytes)
{
    room_ += bytes;
    look();
}

void InputSource::close()
{
    open_ = false;
    look();
}

bool InputSource::in_background() const
{
    const pid_t front = tcgetpgrp(standard_input); // -1: no terminal, or that of another session
    return front >= 0 && front != getpgrp();
}

void InputSource::look()
{
    const bool background = open_ && in_background();
    next_look_ = background ? Deadline(Clock::now() + look_period) : Deadline();
    if (open_ && !background && room_ > 0)
        poller_.watch(standard_input, POLLIN, [this] { read_some(); });
    else
        poller_.forget(standard_input);
}

void InputSource::read_some()
{
    if (in_background())
        return look();
    std::array<char, 16 << 10> buffer;
    const ssize_t n = read(standard_input, buffer.data(), std::min(buffer.size(), room_));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0 && errno == EIO && in_background()) // since just now
        return look();
    if (n > 0)
        room_ -= static_cast<std::size_t>(n);
    else
        open_ = false;
    on_input_({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
    look();
}

} // namespace unetrun
