// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests with random programs share.
#pragma once

#include "process.h"
#include "splitc_run.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using Words = std::vector<std::string>;

inline std::string joined(const Words &words)
{
    std::string line;
    for (const std::string &word : words)
        line += (line.empty() ? "" : " ") + word;
    return line;
}

inline Words operator+(Words a, const Words &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Runs a compiler, or another command that has to succeed.
inline void build(const Words &words, const TemporaryFolder &folder)
{
    const Outcome outcome = run({words, {}, folder.path, std::chrono::seconds(60)});
    INFO(joined(words) << " printed:\n" << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
}

// SPLITC_RANDOM=N in the environment moves all seeds by N.
inline unsigned long moved_seed(unsigned long seed)
{
    const char *text = std::getenv("SPLITC_RANDOM");
    return seed + (text ? std::strtoul(text, nullptr, 10) : 0);
}
