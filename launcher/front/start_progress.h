// SPDX-License-Identifier: BSD-3-Clause
//
// When to tell how far the start of a job is: from a second on, once a second.  Calls no other
// part.
#pragma once

#include <optional>
#include <string>

#include "common/poller.h"

namespace unetrun {

class StartProgress {
public:
    explicit StartProgress(Clock::time_point begin) : told_(begin) {}

    // `done` of `all` are there now, "daemons" or "ranks": the line that tells it, if one is due.
    // When all are there is none.
    std::optional<std::string> line(std::size_t done, std::size_t all, const std::string &what,
                                    Clock::time_point now);

private:
    Clock::time_point told_;
};

} // namespace unetrun
