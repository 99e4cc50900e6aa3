// SPDX-License-Identifier: BSD-3-Clause
//
// The remote shell, ssh or what --rsh names instead: its command line, and what its end means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/failure.h"

namespace unetrun {

// The words of a command such as "ssh -F 'a file'".  Throws Failure (exit_usage).
std::vector<std::string> split_words(const std::string &command);

// The command that starts a relay on `host`.  `unetrun` is the path of this program there.
std::vector<std::string> rsh_command(const std::vector<std::string> &rsh, const std::string &host,
                                     const std::string &unetrun);

// How a remote shell, or a daemon, ended.
struct RshEnding {
    std::optional<int> status; // as waitpid gives it; none: it still runs
    std::string words;         // the last line of its stderr
    std::string nonsense;      // what arrived instead of frames
};

// "killed by signal 9 (Killed)", say.
std::string ending_text(const RshEnding &ending);

// What to tell the user of an end before the relay said hello: what is wrong, and what to do.
Failure start_failure(const std::string &host, const std::vector<std::string> &rsh,
                      const std::string &unetrun, const RshEnding &ending);

// The same for an end after that.
Failure link_failure(const std::string &host, const RshEnding &ending);

// The value that sshd here would give SSH_CONNECTION for a connection from `host`; empty if the
// address at which it would come is not known.
std::string connection_from(const std::string &host);

} // namespace unetrun
