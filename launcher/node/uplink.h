// SPDX-License-Identifier: BSD-3-Clause
//
// The daemon's link to the front end, over which all parts of the daemon send messages in the name
// of their node.
#pragma once

#include "common/link.h"

namespace unetrun {

class Uplink {
public:
    Uplink(Poller &poller, Fd in, Fd out, Link::OnFrame on_frame, std::function<void()> on_lost)
        : link_(poller, std::move(in), std::move(out), std::move(on_frame),
                [on_lost = std::move(on_lost)](const std::string &) { on_lost(); })
    {
    }

    void set_node(std::uint32_t node) { node_ = node; }
    bool open() const { return link_.open(); }
    template <class Message> void send(const Message &message) { link_.send(message, node_); }

private:
    Link link_;
    std::uint32_t node_ = 0;
};

} // namespace unetrun
