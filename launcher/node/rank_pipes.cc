// SPDX-License-Identifier: BSD-3-Clause

#include "node/rank_pipes.h"

#include <array>

namespace unetrun {

OutputPipe::OutputPipe(Poller &poller, Fd read_end, bool hold_lines, Emit emit)
    : poller_(poller), fd_(std::move(read_end)), lines_(hold_lines), emit_(std::move(emit))
{
    set_nonblocking(fd_.get());
}

void OutputPipe::pause()
{
    if (fd_)
        poller_.forget(fd_.get());
}

void OutputPipe::resume()
{
    if (fd_)
        poller_.watch(fd_.get(), POLLIN, [this] { read_some(); });
}

void OutputPipe::close()
{
    pause();
    fd_.reset();
}

bool OutputPipe::read_some()
{
    std::array<char, 64 << 10> buffer;
    const ssize_t n = read(fd_.get(), buffer.data(), buffer.size());
    if (n > 0) {
        lines_.feed({buffer.data(), static_cast<std::size_t>(n)}, emit_);
        return true;
    }
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN && !end_expected_)
        return false;
    close();
    lines_.finish(emit_);
    return false;
}

InputPipe::InputPipe(Poller &poller, Fd write_end, std::function<void(std::size_t)> on_written)
    : poller_(poller), fd_(std::move(write_end)), on_written_(std::move(on_written))
{
    set_nonblocking(fd_.get());
}

void InputPipe::put(std::string_view bytes)
{
    if (!fd_)
        return;
    ending_ = ending_ || bytes.empty();
    unwritten_ += bytes;
    flush();
}

void InputPipe::close()
{
    if (!fd_)
        return;
    poller_.forget(fd_.get());
    fd_.reset();
}

void InputPipe::flush()
{
    while (!unwritten_.empty()) {
        const ssize_t n = write(fd_.get(), unwritten_.data(), unwritten_.size());
        if (n > 0) {
            unwritten_.erase(0, static_cast<std::size_t>(n));
            on_written_(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN) {
            return poller_.watch(fd_.get(), POLLOUT, [this] { flush(); });
        } else if (errno != EINTR) {
            close();
            return on_written_(0);
        }
    }
    poller_.forget(fd_.get());
    if (ending_)
        close();
}

} // namespace unetrun
