// SPDX-License-Identifier: BSD-3-Clause
//
// The processes that descend from this one, whoever has started them: finding and ending them.
#pragma once

#include <set>
#include <sys/types.h>

namespace unetrun {

// Makes orphans among the descendants children of this process, so that none escapes.
void adopt_orphans();

// Whether there is a child that runs, or that has exited and is not reaped.
bool has_children();

std::set<pid_t> children();

// Sends SIGKILL to every descendant but the children `spared` and their descendants.  The killed
// are still to be reaped; orphans that they leave become children and have to be killed again.
// Returns whether there was any.
bool kill_descendants(const std::set<pid_t> &spared = {});

// The letter by which /proc tells the state of a process; 'X' if there is no such process.
char process_state(pid_t pid);

} // namespace unetrun
