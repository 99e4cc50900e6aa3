// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include "front/start_progress.h"

using namespace unetrun;
using namespace std::chrono_literals;

TEST_CASE("start progress: a job that starts at once says nothing")
{
    const Clock::time_point begin{};
    StartProgress progress(begin);
    for (std::size_t i = 1; i <= 100; i++)
        CHECK(!progress.line(i, 100, "ranks", begin + i * 9ms));
}

TEST_CASE("start progress: a line a second, until all are there")
{
    const Clock::time_point begin{};
    StartProgress progress(begin);
    std::vector<std::string> lines;
    for (std::size_t i = 1; i <= 4; i++)
        if (const auto line = progress.line(i, 4, "daemons", begin + i * 400ms))
            lines.push_back(*line);
    for (std::size_t i = 1; i <= 8; i++)
        if (const auto line = progress.line(i, 8, "ranks", begin + 1600ms + i * 300ms))
            lines.push_back(*line);
    CHECK(lines == std::vector<std::string>{"3 of 4 daemons have started",
                                            "2 of 8 ranks have started",
                                            "6 of 8 ranks have started"});
}

TEST_CASE("start progress: the last one there needs no line, however late")
{
    StartProgress progress(Clock::time_point{});
    CHECK(!progress.line(8, 8, "ranks", Clock::time_point{} + 10s));
}
