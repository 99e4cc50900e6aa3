// SPDX-License-Identifier: BSD-3-Clause
//
// Command lines of unetrun that several tests use, and the check that a job has left nothing.
#pragma once

#include <catch2/catch.hpp>

#include <string>

#include "test/job.h"

constexpr std::chrono::seconds aftermath{20}; // for everything of a job to be gone

inline TestJob::Strings shell(int ranks, const std::string &script)
{
    return {"-n", std::to_string(ranks), "sh", "-c", script};
}

inline TestJob::Strings client(const TestJob::Strings &options, const TestJob::Strings &words = {})
{
    TestJob::Strings arguments = options;
    arguments.push_back(PMIX_CLIENT);
    arguments.insert(arguments.end(), words.begin(), words.end());
    return arguments;
}

// A job of one rank that is this script, in which $0 is unetrun.
inline TestJob::Strings script(const std::string &text)
{
    return {"--timeout", "20", "--bind-to", "none", "bash", "-c", text, UNETRUN_PROGRAM};
}

inline void check_clean(const TestJob &job)
{
    const bool clean = job.clean_within(aftermath);
    INFO("left behind: " << job.leftovers());
    CHECK(clean);
}
