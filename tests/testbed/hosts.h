// SPDX-License-Identifier: BSD-3-Clause
//
// hosts.h - several hosts on this one machine, as testbed/hosts.sh makes them.
#ifndef TESTS_TESTBED_HOSTS_H
#define TESTS_TESTBED_HOSTS_H

#include "process.h"
#include "quoted.h"

#include <string>
#include <sys/types.h>
#include <vector>

// As long as the object lives, this process, and what it starts, is on host1.
class Hosts {
public:
    explicit Hosts(int count);
    ~Hosts();
    Hosts(const Hosts &) = delete;
    Hosts &operator=(const Hosts &) = delete;

    // Why there can be none here; empty: there can.
    static std::string obstacle();

    std::string all() const; // "host1,host2"
    std::string ssh_config() const { return folder_ / "ssh_config"; }
    std::string rsh() const { return "ssh -F " + quoted(ssh_config()); } // for unetrun --rsh
    pid_t sshd(int host) const;

    // A process in the network that has the other ends of their cables, host1, host2 and so on, and
    // the bridge that joins them.
    pid_t between() const;

    // Every process on any of them but this one and the sshds themselves.
    std::vector<pid_t> guests() const;

    // Takes the cable of a host out, and puts it in again.
    void unplug(int host) const { plug(host, "down"); }
    void plug_in(int host) const { plug(host, "up"); }

private:
    void plug(int host, const char *state) const;
    void enter(pid_t pid);

    TemporaryFolder folder_;
    int count_;
    int script_input_ = -1; // its end ends the hosts
    pid_t script_ = -1;
    std::vector<int> own_; // our own namespaces
    std::filesystem::path place_ = std::filesystem::current_path();
};

#endif
