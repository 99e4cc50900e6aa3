// SPDX-License-Identifier: BSD-3-Clause
//
// A run of unetrun as a test sees it: its output, its end, and what it leaves behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <signal.h>
#include <string>
#include <sys/types.h>
#include <vector>

#include "common/fd.h"

// Polls `condition` until it holds or the time is over; whether it held.
bool eventually(std::chrono::milliseconds limit, const std::function<bool()> &condition);

class TestJob {
public:
    using Strings = std::vector<std::string>;

    // Starts unetrun with `arguments`.  Its processes are known by a variable in their
    // environments, and its files by a TMPDIR of their own.
    explicit TestJob(const Strings &arguments, const Strings &environment = {});
    ~TestJob(); // kills what is left
    TestJob(const TestJob &) = delete;
    TestJob &operator=(const TestJob &) = delete;

    pid_t pid() const { return pid_; }
    pid_t daemon() const;                                     // 0: none (any more)
    std::vector<pid_t> named(const std::string &name) const;  // of the job's processes
    std::vector<pid_t> processes() const;                     // of the job, unetrun itself too
    std::vector<std::string> files() const;                   // in its TMPDIR
    bool clean_within(std::chrono::milliseconds limit) const; // no process, no file
    std::string tmpdir() const { return tmpdir_; }
    std::string leftovers() const; // in words, for messages

    void write_input(const std::string &bytes); // all of it, whether it is read or not
    void close_input() { input_.reset(); }
    void close_output() { output_[0].reset(); }
    bool prints(const std::string &text, std::size_t times = 1); // within reasonable time

    // Waits for the end of unetrun, taking its output; its exit code, 128 + signal, or -1
    // if it takes too long.
    int wait();
    void send(int signal) const { kill(pid_, signal); }

    std::string out() const { return text_[0]; }
    std::string err() const { return text_[1]; }

private:
    void take_output(std::chrono::milliseconds limit);
    bool exited();

    std::string mark_;
    std::filesystem::path tmpdir_;
    pid_t pid_ = 0;
    int status_ = -1;
    bool reaped_ = false;
    unetrun::Fd input_, output_[2];
    std::string text_[2];
};

std::string state_of(pid_t pid);    // "R", "S", "T"...; empty: no such process
std::uint64_t cpu_ticks(pid_t pid); // processor time that it has taken, in clock ticks
std::size_t count_lines(const std::string &text);
TestJob::Strings sorted_lines(const std::string &text);
