// SPDX-License-Identifier: BSD-3-Clause
//
// A node's private directory of the job, for the PMIx server's files and a copy of the
// program, under $TMPDIR or /tmp.
//
// Its name follows from the job, so that either of front end and daemon can remove it
// after the other was killed.  The daemon holds a lock on it for as long as it lives;
// one without a lock belongs to a dead job, and the next daemon removes it.
#pragma once

#include <cstdint>
#include <string>

#include "common/fd.h"

namespace unetrun {

// Makes TMPDIR an absolute path in the environment: its directory remains the same when the
// process, or what it starts, changes its own.
void fix_parent_directory();

// A job's unique name: unetrun-UID-PID-RANDOM, with which the names of its directories begin, for
// all to see; then ~ and the secret, if there is one.
std::string make_job_id(pid_t pid, const std::string &random, const std::string &secret = {});

class JobDirectory {
public:
    // Creates it (mode 0700) and locks it.  Throws Failure.
    JobDirectory(const std::string &job_id, std::uint32_t node);
    ~JobDirectory();
    JobDirectory(const JobDirectory &) = delete;
    JobDirectory &operator=(const JobDirectory &) = delete;

    const std::string &path() const { return path_; }

    // Makes an executable file of the job's in it; its path.  Throws Failure.
    std::string put(const std::string &name, const std::string &bytes) const;

private:
    std::string path_;
    Fd lock_;
};

// Removes the directory of a job whose daemon is dead.
void remove_job_directory(const std::string &job_id, std::uint32_t node);

// Removes this user's directories that dead jobs have left.
void remove_stale_job_directories();

} // namespace unetrun
