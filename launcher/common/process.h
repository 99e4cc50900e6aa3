// SPDX-License-Identifier: BSD-3-Clause
//
// Starting programs, and what is told of their end.
#pragma once

#include <cstdint>
#include <optional>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "common/fd.h"

namespace unetrun {

// The file to execute for `program`: `program` itself if it has a slash, else the first file of
// that name in the directories of `search_path` that can be executed.  Throws Failure: 127 if
// there is none, 126 if there is one that cannot be executed.
std::string find_program(const std::string &program, const std::string &search_path);

// What a process is started with.
struct Spawn {
    std::string file;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    int in = 0, out = 1, err = 2; // the descriptors that become its 0, 1 and 2
    sigset_t signals{};           // its signal mask
    std::optional<cpu_set_t> processors;
    bool group = false;            // it leads a process group
    bool session = false;          // it leads a session
    bool dies_with_parent = false; // by SIGKILL
    rlim_t open_files = 0;         // its soft limit of open files; 0: that of this process
};

// Starts a process and returns its pid once the program runs.  Throws Failure: 126 or 127 if it
// cannot be executed.
pid_t spawn(const Spawn &what);

// What a program writes to its standard output.  If it takes longer than two seconds it is killed,
// and the result is empty.  Throws Failure if it cannot be started.
std::string output_of(const std::vector<std::string> &arguments,
                      const std::vector<std::string> &environment);

// "Killed" for SIGKILL
std::string signal_text(int number);

// The exit code of unetrun for a status of waitpid.
int exit_code_of(int status);

} // namespace unetrun
