// SPDX-License-Identifier: BSD-3-Clause
//
// A node's private directory of the job, for the files of the PMIx server and a copy of the
// program, in $TMPDIR or /tmp.
//
// Its name follows from the job, so that the front end or the daemon can remove it after the
// other was killed.  The daemon holds a lock on it while it lives.  A directory without a lock
// belongs to a dead job, and the next daemon of this user removes it.
#pragma once

#include <cstdint>
#include <string>

#include "common/fd.h"

namespace unetrun {

// Makes TMPDIR an absolute path, so that it means the same directory for processes that change
// their working directory.
void fix_parent_directory();

// The unique name of a job: unetrun-UID-PID-RANDOM, with which the names of its directories begin
// and which everybody can see; then ~ and the secret, if there is one.
std::string make_job_id(pid_t pid, const std::string &random, const std::string &secret = {});

class JobDirectory {
public:
    // Creates it (mode 0700) and locks it.  Throws Failure.
    JobDirectory(const std::string &job_id, std::uint32_t node);
    ~JobDirectory();
    JobDirectory(const JobDirectory &) = delete;
    JobDirectory &operator=(const JobDirectory &) = delete;

    const std::string &path() const { return path_; }

    // Writes an executable file into it and returns its path.  Throws Failure.
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
