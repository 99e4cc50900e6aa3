// SPDX-License-Identifier: BSD-3-Clause
//
// One end of a connection between front end, relays and daemons: sends and receives frames over a
// pair of descriptors, and never blocks.
#pragma once

#include <functional>
#include <string>

#include "common/fd.h"
#include "common/poller.h"
#include "common/protocol.h"

namespace unetrun {

constexpr std::chrono::milliseconds beat_period{1000};
constexpr std::chrono::seconds silence_max{20}; // after that the other side counts as lost

class Link {
public:
    using OnFrame = std::function<void(const Frame &)>;
    // The other side is gone, or has sent what is no frame, of which `nonsense` tells.  Called
    // once.
    using OnLost = std::function<void(const std::string &nonsense)>;

    Link(Poller &poller, Fd in, Fd out, OnFrame on_frame, OnLost on_lost);
    ~Link() { close(); }
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;

    // Queues a message, which is written as soon as the descriptor takes it.  Does nothing when
    // the link is closed.
    template <class Message> void send(const Message &message, std::uint32_t node = 0)
    {
        send_bytes(encode(message, node));
    }
    void send(const Frame &frame) { send_bytes(encode(frame)); }
    bool open() const { return static_cast<bool>(in_); }
    void close();

    // For a link whose other side may vanish without closing it.  Both are to be called about
    // every beat_period.  beat() sends something if nothing else was sent.  silent() tells whether
    // nothing has arrived for silence_max while this process was running.
    void beat();
    bool silent(Clock::time_point now = Clock::now());

private:
    void send_bytes(const std::string &bytes);
    void flush();
    void receive();
    void lose(const std::string &nonsense);
    void pass_on_frames();

    Poller &poller_;
    Fd in_, out_;
    OnFrame on_frame_;
    OnLost on_lost_;
    FrameReader reader_;
    std::string unsent_;
    std::size_t sent_ = 0; // of unsent_
    Clock::time_point heard_ = Clock::now(), spoke_ = heard_, looked_ = heard_;
};

} // namespace unetrun
