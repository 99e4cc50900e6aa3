// SPDX-License-Identifier: BSD-3-Clause
//
// A file descriptor with one owner.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "common/failure.h"

namespace unetrun {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd &operator=(Fd &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset()
    {
        if (fd_ >= 0)
            close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};

struct Pipe {
    Fd read_end, write_end;
};

// Both ends are close-on-exec and blocking.
inline Pipe make_pipe()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw system_failure("cannot make a pipe");
    return {Fd(ends[0]), Fd(ends[1])};
}

inline void set_nonblocking(int fd)
{
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
        throw system_failure("cannot set a descriptor non-blocking");
}

// A second descriptor of the same open file: close-on-exec, and above 2.
inline Fd duplicate(int fd)
{
    Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (!copy)
        throw system_failure("cannot duplicate a descriptor");
    return copy;
}

} // namespace unetrun
