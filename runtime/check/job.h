// SPDX-License-Identifier: BSD-3-Clause
//
// Starting runtime_check under unetrun, and looking at how it ended.
#pragma once

#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

#ifndef JOB_SECONDS
#define JOB_SECONDS "50" // what a job may take
#endif

#ifndef JOB_OPTIONS
#define JOB_OPTIONS "" // of unetrun, for every job
#define ONE_NODE
#endif

// The check of who is reached through a window, on one node.  Programs with a sanitizer have no
// windows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr const char *reach_within_node = "reach far";
#else
inline constexpr const char *reach_within_node = "reach near";
#endif

struct Ended {
    int code; // as a shell sees it
    std::string output;
};

// Run a shell command; what it writes to stdout and stderr comes back.
inline Ended shell(const std::string &command)
{
    FILE *pipe = popen(("exec 2>&1; " + command).c_str(), "r");
    std::string output;
    char bytes[4096];

    REQUIRE(pipe != nullptr);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
        output.append(bytes, n);
    int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output};
}

inline Ended run(int ranks, const std::string &check, const std::string &environment = "")
{
    return shell(environment + " '" UNETRUN "' " JOB_OPTIONS " --timeout " JOB_SECONDS " -n " +
                 std::to_string(ranks) + " '" RUNTIME_CHECK "' " + check);
}

inline std::vector<std::string> lines_of(const std::string &text)
{
    std::istringstream in(text);
    std::vector<std::string> lines;

    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// Ranks that get settings which no launcher has checked, as of a shell that sets them.
inline void refuses(int ranks, const std::string &settings, const std::string &says)
{
    Ended ended =
        shell("'" UNETRUN "' " JOB_OPTIONS " --timeout " JOB_SECONDS " -n " +
              std::to_string(ranks) + " env " + settings + " '" RUNTIME_CHECK "' identity");

    INFO(settings << " on " << ranks << " ranks");
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, Catch::Contains(says));
}

inline void passes(int ranks, const std::string &check, const std::string &environment = "")
{
    Ended ended = run(ranks, check, environment);

    INFO("check " << check << " on " << ranks << " ranks: " << ended.output);
    CHECK(ended.code == 0);
}

// The job ends with that code, and says so.
inline void ends(int ranks, const std::string &check, int code, const std::string &says,
                 const std::string &environment = "")
{
    Ended ended = run(ranks, check, environment);

    INFO("check " << check << " on " << ranks << " ranks");
    CHECK(ended.code == code);
    CHECK_THAT(ended.output, Catch::Contains(says));
}
