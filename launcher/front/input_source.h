// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the front end's standard input, as fast as rank 0 takes it.
#pragma once

#include <functional>
#include <string_view>

#include "common/poller.h"

namespace unetrun {

class InputSource {
public:
    using OnInput = std::function<void(std::string_view)>; // no bytes: the end of the file

    InputSource(Poller &poller, OnInput on_input);
    ~InputSource() { close(); }
    InputSource(const InputSource &) = delete;
    InputSource &operator=(const InputSource &) = delete;

    void give_room(std::size_t bytes); // so many more may be read
    void close();

    // Looks again whether unetrun is in the foreground of its terminal: reading it from the
    // background would stop the process.  To be called after SIGCONT and at next_look().
    void look();
    Deadline next_look() const { return next_look_; }

private:
    void read_some();
    bool in_background() const;

    Poller &poller_;
    OnInput on_input_;
    std::size_t room_ = 0;
    bool open_ = true;
    Deadline next_look_;
};

} // namespace unetrun
