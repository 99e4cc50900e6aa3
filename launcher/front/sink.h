// SPDX-License-Identifier: BSD-3-Clause
//
// Writes unetrun's output from a thread of its own, so that a slow reader delays neither signals
// nor the end of the job.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/mailbox.h"

namespace unetrun {

// A piece of output, and the node that gets credit when it is written.
struct Piece {
    int fd = -1;
    std::string file; // to be appended to; empty: it goes to `fd`
    std::string text;
    std::uint32_t node = 0;
    std::uint32_t credit = 0; // its bytes without tags
};

// What became of a piece.
struct Written {
    int fd;
    std::string file;
    std::uint32_t node, credit;
    int error; // 0, or why it could not be written
};

class Sink {
public:
    using OnWritten = std::function<void(const Written &)>; // in the event loop's thread

    Sink(Mailbox &mailbox, OnWritten on_written);
    ~Sink(); // waits until all has been written
    Sink(const Sink &) = delete;
    Sink &operator=(const Sink &) = delete;

    void put(Piece piece);
    bool idle() const { return outstanding_ == 0; } // everything has been written

private:
    void work();
    std::optional<Piece> take();

    Mailbox &mailbox_;
    OnWritten on_written_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Piece> pieces_;
    std::size_t outstanding_ = 0; // pieces not yet reported; belongs to the event loop's thread
    bool closing_ = false;
    std::thread thread_;
};

} // namespace unetrun
