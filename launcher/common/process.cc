// SPDX-License-Identifier: BSD-3-Clause

#include "common/process.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "common/poller.h"
#include "common/resources.h"

namespace unetrun {

// ---- finding the program --------------------------------------------------

namespace {

std::string machine()
{
    utsname name;
    return uname(&name) == 0 ? name.machine : "this machine";
}

// Why `file` cannot be executed; nothing if it looks as if it could.
std::optional<Failure> objection(const std::string &file)
{
    struct stat status;
    if (stat(file.c_str(), &status) != 0)
        return Failure(errno == ENOENT || errno == ENOTDIR ? exit_not_found : exit_cannot_run,
                       "cannot run " + file + ": " + std::strerror(errno) +
                           "; check the name and the directory (--wdir)");
    if (S_ISDIR(status.st_mode))
        return Failure(exit_cannot_run,
                       "cannot run " + file + ": it is a directory; name a program");
    if (!S_ISREG(status.st_mode) || access(file.c_str(), X_OK) != 0)
        return Failure(exit_cannot_run, "cannot run " + file +
                                            ": it is not executable; build it, or set its mode "
                                            "with chmod +x");
    return std::nullopt;
}

} // namespace

std::string find_program(const std::string &program, const std::string &search_path)
{
    if (program.empty())
        throw Failure(exit_not_found, "the name of the program is empty; unetrun -n 4 ./program");
    if (program.find('/') != std::string::npos) {
        if (const auto failure = objection(program))
            throw *failure;
        return program;
    }
    std::optional<Failure> nearest; // a file of that name that cannot be run
    std::istringstream directories(search_path);
    for (std::string directory; std::getline(directories, directory, ':');) {
        const std::string file = (directory.empty() ? "." : directory) + "/" + program;
        const auto failure = objection(file);
        if (!failure)
            return file;
        if (failure->code == exit_cannot_run && !nearest)
            nearest = failure;
    }
    if (nearest)
        throw *nearest;
    throw Failure(exit_not_found, "cannot find the program " + program +
                                      " in PATH; for one in the current directory write ./" +
                                      program);
}

// ---- starting a process ---------------------------------------------------

namespace {

std::vector<char *> pointers(const std::vector<std::string> &texts)
{
    std::vector<char *> list;
    for (const std::string &text : texts)
        list.push_back(const_cast<char *>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

void limit_open_files(rlim_t soft)
{
    rlimit limit;
    if (soft == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = soft;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Runs in the child, where other threads may have left locks locked for ever: makes system calls
// only.
[[noreturn]] void become(const Spawn &what, pid_t parent, int report, char *const *arguments,
                         char *const *environment)
{
    if (what.session)
        setsid();
    if (what.group)
        setpgid(0, 0);
    if (what.dies_with_parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (what.dies_with_parent && getppid() != parent)
        _exit(exit_trouble);
    if (what.processors)
        sched_setaffinity(0, sizeof *what.processors, &*what.processors);
    limit_open_files(what.open_files);
    const int standard[] = {what.in, what.out, what.err};
    for (int i = 0; i < 3; i++) // those that differ are above 2, so none overwrites another
        if (standard[i] != i)
            dup2(standard[i], i);
    sigprocmask(SIG_SETMASK, &what.signals, nullptr);
    execve(what.file.c_str(), arguments, environment);
    const int error = errno;
    [[maybe_unused]] const ssize_t n = write(report, &error, sizeof error);
    _exit(exit_trouble);
}

Failure exec_failure(const std::string &file, int error)
{
    std::string why = std::strerror(error);
    if (error == ENOEXEC)
        why = "it is neither a program for " + machine() +
              " nor a script with an interpreter in its first line (#!)";
    else if (error == ENOENT)
        why = "the interpreter or loader that it names does not exist";
    else if (error == E2BIG)
        why = "its arguments and environment are too long";
    return Failure(exit_cannot_run, "cannot run " + file + ": " + why);
}

} // namespace

pid_t spawn(const Spawn &what)
{
    const std::vector<char *> arguments = pointers(what.arguments);
    const std::vector<char *> environment = pointers(what.environment);
    Pipe report = make_pipe(); // closed by a successful execve
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        throw Failure(exit_trouble, "cannot start a process: " + start_trouble(errno));
    if (pid == 0)
        become(what, parent, report.write_end.get(), arguments.data(), environment.data());
    report.write_end.reset();
    int error = 0;
    ssize_t n;
    do
        n = read(report.read_end.get(), &error, sizeof error);
    while (n < 0 && errno == EINTR);
    if (n == sizeof error) {
        waitpid(pid, nullptr, 0);
        throw exec_failure(what.file, error);
    }
    return pid;
}

// ---- their end ------------------------------------------------------------

std::string signal_text(int number)
{
    const char *text = sigdescr_np(number);
    return text ? text : "unknown signal";
}

int exit_code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : exit_signal + WTERMSIG(status);
}

// ---- helpers -------------------------------------------------------------------

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2000ms;

// All that can be read until the end, or until then.
std::string read_until(int fd, Clock::time_point end)
{
    std::string text;
    std::array<char, 4096> bytes;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        pollfd entry{fd, POLLIN, 0};
        if (left.count() <= 0 || poll(&entry, 1, static_cast<int>(left.count())) <= 0)
            return {};
        const ssize_t n = read(fd, bytes.data(), bytes.size());
        if (n <= 0)
            return text;
        text.append(bytes.data(), static_cast<std::size_t>(n));
    }
}

} // namespace

std::string output_of(const std::vector<std::string> &arguments,
                      const std::vector<std::string> &environment)
{
    Pipe output = make_pipe();
    const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC)); // its stderr is of no interest
    Spawn what;
    what.file = arguments.front();
    what.arguments = arguments;
    what.environment = environment;
    what.in = what.err = null.get();
    what.out = output.write_end.get();
    sigemptyset(&what.signals);
    what.dies_with_parent = true;
    const pid_t pid = spawn(what);
    output.write_end.reset();
    std::string text = read_until(output.read_end.get(), Clock::now() + patience);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return text;
}

} // namespace unetrun
