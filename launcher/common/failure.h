// SPDX-License-Identifier: BSD-3-Clause
//
// The exit codes of unetrun, and the exception that ends it with one of them.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace unetrun {

enum ExitCode {
    exit_trouble = 1,      // unetrun itself has failed
    exit_usage = 2,        // the command line makes no sense
    exit_timeout = 124,    // --timeout ran out
    exit_cannot_run = 126, // the program exists but cannot be run
    exit_not_found = 127,  // there is no such program
    exit_signal = 128,     // plus the number of the signal that killed a rank
};

// what() is the line that the user sees, after "unetrun: ": what is wrong, where, and what to do
// about it.
struct Failure : std::runtime_error {
    Failure(int exit_code, const std::string &text) : std::runtime_error(text), code(exit_code) {}
    int code;
};

// What the user can do about an error if a limit was reached; else empty.
inline std::string remedy(int error)
{
    if (error == EMFILE)
        return "; raise the limit of open files (ulimit -n)";
    if (error == ENFILE)
        return "; the machine's limit of open files is reached (fs.file-max)";
    if (error == EFBIG)
        return "; raise the limit of file sizes (ulimit -f), which holds for shared memory, too";
    if (error == ENOMEM)
        return "; the machine, or a limit (ulimit -v, -d), gives no more memory";
    return "";
}

// "TEXT: No such file or directory", from errno.
inline Failure system_failure(const std::string &text)
{
    return Failure(exit_trouble, text + ": " + std::strerror(errno) + remedy(errno));
}

} // namespace unetrun
