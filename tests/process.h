// SPDX-License-Identifier: BSD-3-Clause
//
// process.h - run a command within a time limit and see what it did.
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

struct Outcome {
    int code = -1; // exit code, 128 + signal, or -1 when the time limit ended it
    std::string out;
    std::string err;
};

struct Command {
    std::vector<std::string> arguments;        // [0] is the program, looked up in PATH
    std::vector<std::string> environment = {}; // NAME=VALUE, added to ours
    std::filesystem::path folder = {};         // where to run; empty = here
    std::chrono::milliseconds limit{60'000};
    std::function<void(pid_t)> meanwhile = {}; // called once with its pid, after the start
};

// Run it with no standard input and wait for it; the whole of its process
// group is killed when the limit is over.
Outcome run(const Command &command);

// Ask until it is true; false when the limit is over first.
bool eventually(const std::function<bool()> &condition, std::chrono::milliseconds limit);

// A new empty folder that goes, with all it holds, when the object does.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    std::string operator/(const std::string &name) const { return (path / name).string(); }

    std::filesystem::path path;
};

#endif
