// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/hosts.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

const char *const spaces[] = {"net", "uts", "ipc", "mnt"};

std::string space_of(pid_t pid, const std::string &space)
{
    return "/proc/" + std::to_string(pid) + "/ns/" + space;
}

[[noreturn]] void fail(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

pid_t read_pid(const std::string &file)
{
    pid_t pid = 0;
    std::ifstream(file) >> pid;
    return pid;
}

// Starts the script; it says one word when the hosts are there.
pid_t start(const std::vector<std::string> &words, int *input, int *output)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        fail("pipe2");
    const pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(words[0].c_str(), words[0].c_str(), words[1].c_str(), words[2].c_str(), nullptr);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *input = in[1];
    *output = out[0];
    return pid;
}

} // namespace

std::string Hosts::obstacle()
{
    if (geteuid() != 0)
        return "only root can make hosts out of namespaces";
    for (const char *tool : {"/usr/sbin/sshd", "/usr/bin/ssh"})
        if (access(tool, X_OK) != 0)
            return std::string(tool) + " is missing (Debian: openssh-server, openssh-client)";
    // A container may be root and have no right to do this.
    if (std::system("unshare --net --mount --uts --ipc ip link add type veth 2>/dev/null") != 0)
        return "this root may make no namespaces or veth devices (Debian: iproute2, util-linux)";
    return {};
}

Hosts::Hosts(int count) : count_(count)
{
    int output;
    char word[6];

    script_ = start({PROJECT_SOURCE "/tests/testbed/hosts.sh", folder_.path, std::to_string(count)},
                    &script_input_, &output);
    const bool ready = read(output, word, sizeof word) == sizeof word;
    close(output);
    if (!ready)
        throw std::runtime_error("the hosts did not start");
    for (const char *space : spaces)
        own_.push_back(open(space_of(getpid(), space).c_str(), O_RDONLY | O_CLOEXEC));
    enter(sshd(1));
}

void Hosts::enter(pid_t pid)
{
    for (const char *space : spaces) {
        const int fd = open(space_of(pid, space).c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, 0) != 0)
            fail("cannot go to " + space_of(pid, space));
        close(fd);
    }
    fs::current_path(place_); // a mount namespace begins at its root
}

Hosts::~Hosts()
{
    for (const int space : own_) {
        setns(space, 0);
        close(space);
    }
    std::error_code ignored;
    fs::current_path(place_, ignored);
    close(script_input_);
    waitpid(script_, nullptr, 0);
}

std::string Hosts::all() const
{
    std::string list;
    for (int i = 1; i <= count_; i++)
        list += (i == 1 ? "host" : ",host") + std::to_string(i);
    return list;
}

pid_t Hosts::sshd(int host) const
{
    return read_pid(folder_ / ("host" + std::to_string(host) + ".pid"));
}

pid_t Hosts::between() const
{
    return read_pid(folder_ / "switch.pid");
}

std::vector<pid_t> Hosts::guests() const
{
    std::vector<fs::path> networks;
    std::vector<pid_t> own{getpid()}, found;
    std::error_code gone; // processes may end while we look

    for (int i = 1; i <= count_; i++) {
        own.push_back(sshd(i));
        networks.push_back(fs::read_symlink(space_of(own.back(), "net"), gone));
    }
    for (const auto &entry : fs::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0 || std::count(own.begin(), own.end(), pid) != 0)
            continue;
        const fs::path network = fs::read_symlink(entry.path() / "ns/net", gone);
        if (!gone && std::count(networks.begin(), networks.end(), network) != 0)
            found.push_back(pid);
    }
    return found;
}

void Hosts::plug(int host, const char *state) const
{
    const std::string command = "nsenter -n -t " + std::to_string(between()) + " ip link set host" +
                                std::to_string(host) + " " + state;
    if (std::system(command.c_str()) != 0)
        throw std::runtime_error("failed: " + command);
}
