// SPDX-License-Identifier: BSD-3-Clause

#include "front/start_progress.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto period = 1s;

} // namespace

std::optional<std::string> StartProgress::line(std::size_t done, std::size_t all,
                                               const std::string &what, Clock::time_point now)
{
    if (done >= all || now - told_ < period)
        return std::nullopt;
    told_ = now;
    return std::to_string(done) + " of " + std::to_string(all) + " " + what + " have started";
}

} // namespace unetrun
