// SPDX-License-Identifier: BSD-3-Clause
//
// Child processes, files and signals.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace splitcc {

using Command = std::vector<std::string>;

inline void append(Command &command, const Command &words)
{
    command.insert(command.end(), words.begin(), words.end());
}

// Returns the command as a shell reads it.
std::string shell_quoted(const Command &command);

// Runs the command with the standard streams of splitcc.  Returns its exit code, or 128 + the
// signal that ended it, or 127 if it cannot be started, which is reported.  Standard error goes
// into the file `errors`, unless that is empty.
int run(const Command &command, const std::string &errors = "");

// Does the same and appends standard output to `output`.
int run_captured(const Command &command, std::string &output, const std::string &errors = "");

// Returns the whole file; nothing if it cannot be read, with the reason in errno.
std::optional<std::string> read_file(const std::string &path);

// Writes the file atomically: either all of it is there, or what was there before.  A symbolic link
// stays one.  Returns false and sets errno if that fails.
bool write_file(const std::string &path, const std::string &text);

// Returns a message that the file cannot be read or written, with the reason in errno.
std::string cannot(const std::string &verb, const std::string &path);

// While this object exists, signals that would end splitcc are only recorded.  They take effect in
// its destructor, after temporary files have been removed.  A child gets the same signal from the
// terminal, or from splitcc.  Signals that are ignored remain so.
class Signals {
public:
    Signals();
    ~Signals();
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;
};

// Thrown after a signal has ended the work.
struct Interrupted {};

// Returns whether such a signal has come.
bool ends_by_signal();

// Waits until a thread has set `done` and called wake_up(), and returns true; or until a signal has
// come, and returns false.
bool wait_for_thread(const std::atomic<bool> &done);
void wake_up();

// A temporary directory, which is removed with its contents by the destructor.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

    const std::string &path() const { return path_; }

    // Returns a new path in the directory that ends in `suffix`.
    std::string file(const std::string &stem, const std::string &suffix);

private:
    std::string path_;
    unsigned files_ = 0;
};

} // namespace splitcc
