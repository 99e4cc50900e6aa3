// SPDX-License-Identifier: BSD-3-Clause
#include "process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    int read_end;
    int write_end;
};

Pipe make_pipe()
{
    std::array<int, 2> ends;

    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe2");
    return {ends[0], ends[1]};
}

[[noreturn]] void become(const Command &command, int out, int err)
{
    std::vector<char *> argv;

    for (const std::string &argument : command.arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    for (const std::string &variable : command.environment)
        putenv(const_cast<char *>(variable.c_str()));
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that is killed leaves no program that never ends
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTSTP})
        signal(number, SIG_DFL); // whatever whoever runs the tests ignores
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (command.folder.empty() || chdir(command.folder.c_str()) == 0)
        execvp(argv[0], argv.data());
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

// Take in what the pipe has; false at its end.
bool drain(int fd, std::string &text)
{
    std::array<char, 65536> buffer;
    const ssize_t n = read(fd, buffer.data(), buffer.size());

    if (n > 0)
        text.append(buffer.data(), static_cast<size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
}

// Collect both streams until both end; false when the deadline comes first.
bool collect(int out, int err, Outcome &outcome, Clock::time_point deadline)
{
    std::array<pollfd, 2> streams{{{out, POLLIN, 0}, {err, POLLIN, 0}}};

    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0)
            return false;
        poll(streams.data(), streams.size(), static_cast<int>(left.count()));
        if (streams[0].revents && !drain(out, outcome.out))
            streams[0].fd = -1;
        if (streams[1].revents && !drain(err, outcome.err))
            streams[1].fd = -1;
    }
    return true;
}

} // namespace

Outcome run(const Command &command)
{
    const Clock::time_point deadline = Clock::now() + command.limit;
    const Pipe out = make_pipe(), err = make_pipe();
    Outcome outcome;
    int status = 0;
    const pid_t pid = fork();

    if (pid < 0)
        throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0)
        become(command, out.write_end, err.write_end);
    setpgid(pid, pid); // both sides do it: whoever comes first
    close(out.write_end);
    close(err.write_end);
    if (command.meanwhile)
        command.meanwhile(pid);
    const bool in_time = collect(out.read_end, err.read_end, outcome, deadline);
    if (!in_time)
        kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
    close(out.read_end);
    close(err.read_end);
    if (in_time)
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    else
        outcome.err += "\n(killed: the time limit is over)";
    return outcome;
}

bool eventually(const std::function<bool()> &condition, std::chrono::milliseconds limit)
{
    const Clock::time_point deadline = Clock::now() + limit;

    while (!condition()) {
        if (Clock::now() > deadline)
            return false;
        usleep(2000); // between two looks, not a synchronisation
    }
    return true;
}

TemporaryFolder::TemporaryFolder()
{
    std::string pattern = std::filesystem::temp_directory_path() / "splitc-test-XXXXXX";

    if (!mkdtemp(pattern.data()))
        throw std::system_error(errno, std::generic_category(), pattern);
    path = pattern;
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}
