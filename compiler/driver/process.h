// SPDX-License-Identifier: BSD-3-Clause
//
// Other programs, and files that vanish.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace splitcc {

using Command = std::vector<std::string>;

// The command as a shell would take it.
std::string shell_quoted(const Command &command);

// Run it with our standard streams; its exit code, or 128 + the signal that ended it.
// A program that cannot be started is reported and gives 127.  Standard error goes into
// the file `errors` if that is not empty.
int run(const Command &command, const std::string &errors = "");

// The same with its standard output put into `output`.
int run_captured(const Command &command, std::string &output, const std::string &errors = "");

// The whole file; nothing when it cannot be read (errno says why).
std::optional<std::string> read_file(const std::string &path);

// Write the file in one step: it is there complete, or not at all.
bool write_file(const std::string &path, const std::string &text);

// What a message says when errno tells why a file cannot be read or written.
std::string cannot(const std::string &verb, const std::string &path);

// While it exists, signals that would end us are remembered; they do when it is gone,
// and with it all that was there to be removed.  A child gets the same signal from the
// terminal, or from us.
class Signals {
public:
    Signals();
    ~Signals();
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;
};

// Sleep until a thread has set `done` and then called wake_up (true), or until such a
// signal has come (false).
bool wait_for_thread(const std::atomic<bool> &done);
void wake_up();

// A directory of our own, gone with its contents when this object is.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

    // A new path in it, ending in suffix.
    std::string file(const std::string &stem, const std::string &suffix);

private:
    std::string path_;
    unsigned files_ = 0;
};

} // namespace splitcc
