// SPDX-License-Identifier: BSD-3-Clause
//
// users.h - a job of one user of this machine, and another user beside it.
#ifndef TESTS_STRANGERS_USERS_H
#define TESTS_STRANGERS_USERS_H

#include "splitc_run.h"

#include <set>
#include <sys/types.h>

// Nobody else's, as far as Debian hands out numbers.
constexpr uid_t OWNER = 64321, STRANGER = 64322;

using Lines = std::vector<std::string>;

// Why there are no other users here, or "".
std::string no_other_users();

// What the function returns, run by that user in a process of its own.
Lines as_user(uid_t user, const std::function<Lines()> &body);

// A process of that user, which is killed at the end if it has not ended by then.
class Companion {
public:
    Companion(uid_t user, const std::function<void()> &body);
    ~Companion();
    Companion(const Companion &) = delete;
    Companion &operator=(const Companion &) = delete;

private:
    pid_t pid_;
};

// Where OWNER, or another user, runs jobs: copies of the programs that everybody may run, a folder
// that is to him what /tmp is to all, and one of his own.
class Ground {
public:
    explicit Ground(const std::vector<std::string> &programs, uid_t user = OWNER);

    // `unetrun` with these words; programs by their names.
    Command job(const Lines &words) const;
    std::string program(const std::string &name) const { return folder_ / ("bin/" + name); }
    std::string shared() const { return folder_ / "tmp"; }
    std::string own() const { return folder_ / "own"; }

    // Of the jobs that run here.
    std::vector<pid_t> processes() const;

private:
    TemporaryFolder folder_;
    uid_t user_;
};

// The sockets that those processes have, by their inodes.
std::set<std::string> sockets_of(const std::vector<pid_t> &pids);

// Their ports of UDP on 127.0.0.1, each once: sockets that are connected to a busy peer have their
// endpoint's.
std::vector<uint16_t> udp_ports_of(const std::vector<pid_t> &pids);

#endif
