// SPDX-License-Identifier: BSD-3-Clause
//
// Starting programs and ending whatever they have started.
#pragma once

#include <cstdint>
#include <optional>
#include <sched.h>
#include <set>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "common/fd.h"

namespace unetrun {

// The file to execute for `program`: itself if it has a slash, else the first executable
// one in the directories of `search_path`.  Throws Failure: 127 not found, 126 no program.
std::string find_program(const std::string &program, const std::string &search_path);

// What a process is started with.
struct Spawn {
    std::string file;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    int standard[3] = {0, 1, 2}; // descriptors that become its 0, 1, 2
    sigset_t signals{};          // its signal mask
    std::optional<cpu_set_t> processors;
    bool group = false;            // lead a process group
    bool session = false;          // lead a session
    bool dies_with_parent = false; // by SIGKILL
    rlim_t open_files = 0;         // its soft limit of open files; 0: as ours
};

// Returns its pid once it runs.  Throws Failure: 126 or 127 if it cannot be executed.
pid_t spawn(const Spawn &what);

// What another program writes to its standard output; nothing if it takes longer than two seconds,
// when it is killed.  Throws Failure if it cannot be started.
std::string output_of(const std::vector<std::string> &arguments,
                      const std::vector<std::string> &environment);

// Makes orphans among our descendants our children, so that none escapes.
void adopt_orphans();

bool has_children(); // any that runs, or that has exited and is not reaped

std::set<pid_t> children(); // ours

// Sends SIGKILL to every descendant but these children and theirs; they are still to be
// reaped, and the orphans they leave to be killed again.  Whether there was any.
bool kill_descendants(const std::set<pid_t> &spared = {});

// The letter that /proc has for what it does; 'X': it is gone.
char process_state(pid_t pid);

// "SIGKILL" and "Killed" for 9.
std::string signal_name(int number);
std::string signal_text(int number);

// The exit code that tells of a status of waitpid.
int exit_code_of(int status);

} // namespace unetrun
