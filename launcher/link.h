// SPDX-License-Identifier: BSD-3-Clause
//
// One end of the conversation between front end and daemon: frames in and out over any
// pair of descriptors, never blocking.
#pragma once

#include <functional>
#include <string>

#include "fd.h"
#include "poller.h"
#include "protocol.h"

namespace unetrun {

class Link {
public:
    using OnFrame = std::function<void(const Frame &)>;
    using OnLost = std::function<void()>; // the other side is gone; called once

    Link(Poller &poller, Fd in, Fd out, OnFrame on_frame, OnLost on_lost);
    ~Link() { close(); }
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;

    // Queues a message; it leaves as soon as there is room.  Nothing happens once lost.
    template <class Message> void send(const Message &message) { send_bytes(encode(message)); }
    bool open() const { return static_cast<bool>(in_); }
    void close();

private:
    void send_bytes(const std::string &bytes);
    void flush();
    void receive();
    void lose();

    Poller &poller_;
    Fd in_, out_;
    OnFrame on_frame_;
    OnLost on_lost_;
    FrameReader reader_;
    std::string unsent_;
    std::size_t sent_ = 0; // of unsent_
};

} // namespace unetrun
