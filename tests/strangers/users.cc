// SPDX-License-Identifier: BSD-3-Clause
#include "users.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <grp.h>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

// What was printed so far is printed once.
pid_t fork_flushed()
{
    std::cout.flush();
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    return pid;
}

void become(uid_t user)
{
    if (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 ||
        setresuid(user, user, user) != 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // after that: a change of user clears it
}

// The rest of this process, which is not to go on with the test that it was forked from.
[[noreturn]] void live_as(uid_t user, const std::function<void()> &body)
{
    become(user);
    try {
        body();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "another user: %s\n", error.what());
        _exit(124);
    } catch (...) { // a REQUIRE that failed has said so already
        _exit(124);
    }
    _exit(0);
}

void write_all(int fd, const std::string &text)
{
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = write(fd, text.data() + done, text.size() - done);
        if (n <= 0)
            _exit(125);
        done += static_cast<size_t>(n);
    }
}

std::string read_all(int fd)
{
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(n));
    return text;
}

void give(const fs::path &folder, uid_t user, mode_t mode)
{
    fs::create_directory(folder);
    if (chown(folder.c_str(), user, user) != 0 || chmod(folder.c_str(), mode) != 0)
        fail(folder);
}

} // namespace

std::string no_other_users()
{
    return geteuid() == 0 ? "" : "takes root, who can be two other users";
}

Lines as_user(uid_t user, const std::function<Lines()> &body)
{
    int ends[2], status;
    Lines lines;

    if (pipe(ends) != 0)
        fail("pipe");
    const pid_t pid = fork_flushed();
    if (pid == 0) {
        close(ends[0]);
        live_as(user, [&] {
            std::string text;
            for (const std::string &line : body())
                text += line + "\n";
            write_all(ends[1], text);
        });
    }
    close(ends[1]);
    std::istringstream text(read_all(ends[0]));
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (status != 0)
        throw std::runtime_error("the other user ended with status " + std::to_string(status));
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    return lines;
}

Companion::Companion(uid_t user, const std::function<void()> &body) : pid_(fork_flushed())
{
    if (pid_ == 0)
        live_as(user, body);
}

Companion::~Companion()
{
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

Ground::Ground(const std::vector<std::string> &programs, uid_t user) : user_(user)
{
    fs::permissions(folder_.path, fs::perms{0755});
    give(folder_ / "bin", 0, 0755);
    give(shared(), 0, 01777);
    give(own(), OWNER, 0755);
    for (const std::string &from : programs)
        fs::copy_file(from, program(fs::path(from).filename()));
}

Command Ground::job(const Lines &words) const
{
    const std::string user = std::to_string(user_);
    Command command{
        {"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", program("unetrun")}};

    for (const std::string &word : words)
        command.arguments.push_back(fs::exists(program(word)) ? program(word) : word);
    command.environment = {"TMPDIR=" + shared()};
    command.folder = own();
    return command;
}

std::vector<pid_t> Ground::processes() const
{
    std::vector<pid_t> found;

    for (const auto &entry : fs::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid > 0 &&
            read_file(entry.path() / "environ").find("TMPDIR=" + shared()) != std::string::npos)
            found.push_back(pid);
    }
    return found;
}

std::set<std::string> sockets_of(const std::vector<pid_t> &pids)
{
    std::set<std::string> inodes;

    for (const pid_t pid : pids) {
        std::error_code gone; // processes may end while we look
        for (const auto &fd :
             fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
            const std::string target = fs::read_symlink(fd.path(), gone);
            if (target.rfind("socket:[", 0) == 0)
                inodes.insert(target.substr(8, target.size() - 9));
        }
    }
    return inodes;
}

std::vector<uint16_t> udp_ports_of(const std::vector<pid_t> &pids)
{
    const std::set<std::string> inodes = sockets_of(pids);
    std::ifstream table("/proc/net/udp");
    std::set<uint16_t> ports;

    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string number, local, skipped, inode;
        words >> number >> local;
        for (int i = 0; i < 7; i++)
            words >> skipped;
        words >> inode;
        if (inodes.count(inode) && local.rfind("0100007F:", 0) == 0)
            ports.insert(static_cast<uint16_t>(std::stoul(local.substr(9), nullptr, 16)));
    }
    return {ports.begin(), ports.end()};
}
