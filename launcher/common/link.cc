// SPDX-License-Identifier: BSD-3-Clause

#include "common/link.h"

#include <array>

namespace unetrun {

Link::Link(Poller &poller, Fd in, Fd out, OnFrame on_frame, OnLost on_lost)
    : poller_(poller), in_(std::move(in)), out_(std::move(out)), on_frame_(std::move(on_frame)),
      on_lost_(std::move(on_lost))
{
    set_nonblocking(in_.get());
    set_nonblocking(out_.get());
    poller_.watch(in_.get(), POLLIN, [this] { receive(); });
}

void Link::close()
{
    if (!open())
        return;
    poller_.forget(in_.get());
    poller_.forget(out_.get());
    in_.reset();
    out_.reset();
}

void Link::lose(const std::string &nonsense)
{
    if (!open())
        return;
    close();
    on_lost_(nonsense);
}

void Link::beat()
{
    if (unsent_.empty() && Clock::now() - spoke_ >= beat_period)
        send(Beat{});
}

bool Link::silent(Clock::time_point now)
{
    const bool was_away = now - std::exchange(looked_, now) > 3 * beat_period;
    if (was_away) // this process was stopped, or very busy
        heard_ = now;
    return now - heard_ > silence_max;
}

void Link::send_bytes(const std::string &bytes)
{
    if (!open())
        return;
    const bool idle = unsent_.empty();
    spoke_ = Clock::now();
    unsent_ += bytes;
    if (idle)
        flush();
}

void Link::flush()
{
    while (sent_ < unsent_.size()) {
        const ssize_t n = write(out_.get(), unsent_.data() + sent_, unsent_.size() - sent_);
        if (n >= 0) {
            sent_ += static_cast<std::size_t>(n);
        } else if (errno == EAGAIN) {
            if (sent_ > unsent_.size() / 2) // or a lasting backlog would keep what was sent
                unsent_.erase(0, std::exchange(sent_, 0));
            poller_.watch(out_.get(), POLLOUT, [this] { flush(); });
            return;
        } else if (errno != EINTR) {
            // receive() notices the loss, after it has read what the other side sent last.
            break;
        }
    }
    poller_.forget(out_.get());
    unsent_.clear();
    sent_ = 0;
}

void Link::receive()
{
    std::array<char, 64 << 10> buffer;
    const ssize_t n = read(in_.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        return lose({});
    heard_ = Clock::now();
    reader_.feed({buffer.data(), static_cast<std::size_t>(n)});
    try {
        pass_on_frames();
    } catch (const Nonsense &nonsense) {
        lose(nonsense.what());
    }
}

void Link::pass_on_frames()
{
    while (open()) {
        const std::optional<Frame> frame = reader_.next();
        if (!frame)
            return;
        if (frame->type != FrameType::beat)
            on_frame_(*frame);
    }
}

} // namespace unetrun
