// SPDX-License-Identifier: BSD-3-Clause
//
// The remote shell: ssh, or what --rsh names instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/failure.h"

namespace unetrun {

// "ssh -F 'a file'" as words.  Throws Failure (exit_usage).
std::vector<std::string> split_words(const std::string &command);

// What to execute to get a relay on `host`, where `unetrun` is the path of this program.
std::vector<std::string> rsh_command(const std::vector<std::string> &rsh, const std::string &host,
                                     const std::string &unetrun);

// How a remote shell, or a daemon, ended.
struct RshEnding {
    std::optional<int> status; // as waitpid gives it; none: it is still there
    std::string words;         // the last line of its stderr
    std::string nonsense;      // what came instead of the relay's words
};

// "killed by signal 9 (Killed)", say.
std::string ending_text(const RshEnding &ending);

// In words, with what to do about it, if the relay had not said hello.
Failure start_failure(const std::string &host, const std::vector<std::string> &rsh,
                      const std::string &unetrun, const RshEnding &ending);

// The same for one that ended later.
Failure link_failure(const std::string &host, const RshEnding &ending);

// The value that sshd here would give SSH_CONNECTION for a connection from `host`; empty if the
// address at which it would come is not known.
std::string connection_from(const std::string &host);

} // namespace unetrun
