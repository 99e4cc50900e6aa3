// SPDX-License-Identifier: BSD-3-Clause
#include "driver/process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <semaphore.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace splitcc {
namespace {

volatile std::sig_atomic_t g_signal = 0;

sem_t g_wake_up;

void remember(int signal)
{
    g_signal = signal;
    wake_up();
}

int spawn(const Command &command, int output, const std::string &errors, pid_t &pid)
{
    std::vector<char *> argv;
    for (const std::string &word : command)
        argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (!errors.empty())
        posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                         0600);
    int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        std::fprintf(stderr, "splitcc: cannot run '%s': %s\n", argv[0], std::strerror(error));
    return error;
}

int wait_for(pid_t pid)
{
    int status = 0;
    bool told = false;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return 127;
        if (g_signal && !told)
            kill(pid, static_cast<int>(g_signal));
        told = true;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

Signals::Signals()
{
    sem_init(&g_wake_up, 0, 0);
    struct sigaction action = {};
    action.sa_handler = remember;
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) // as `nohup` has it, and `&` in a script
            sigaction(signal, &action, nullptr);
    }
    // A write beyond `ulimit -f` is then an error like a full disk, in cc as well.
    std::signal(SIGXFSZ, SIG_IGN);
}

Signals::~Signals()
{
    if (g_signal) {
        std::signal(static_cast<int>(g_signal), SIG_DFL);
        std::raise(static_cast<int>(g_signal));
    }
}

bool ends_by_signal()
{
    return g_signal != 0;
}

bool wait_for_thread(const std::atomic<bool> &done)
{
    while (!done && !g_signal)
        sem_wait(&g_wake_up);
    return done;
}

void wake_up()
{
    sem_post(&g_wake_up);
}

std::string shell_quoted(const Command &command)
{
    std::string text;
    for (const std::string &word : command) {
        if (!text.empty())
            text += ' ';
        bool plain = !word.empty() &&
                     word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]#~!{}") == std::string::npos;
        if (plain) {
            text += word;
            continue;
        }
        text += '\'';
        for (char c : word)
            text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        text += '\'';
    }
    return text;
}

int run(const Command &command, const std::string &errors)
{
    pid_t pid;
    if (g_signal)
        return 128 + static_cast<int>(g_signal);
    return spawn(command, -1, errors, pid) ? 127 : wait_for(pid);
}

int run_captured(const Command &command, std::string &output, const std::string &errors)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        std::fprintf(stderr, "splitcc: no pipe: %s\n", std::strerror(errno));
        return 127;
    }
    pid_t pid;
    int error = spawn(command, ends[1], errors, pid);
    close(ends[1]);
    char buffer[65536];
    for (ssize_t n; !error && (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
        if (n > 0)
            output.append(buffer, static_cast<size_t>(n));
        else if (errno != EINTR || g_signal)
            break;
    }
    close(ends[0]);
    return error ? 127 : wait_for(pid);
}

std::optional<std::string> read_file(const std::string &path)
{
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    std::string text;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        text.reserve(static_cast<size_t>(info.st_size));
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<size_t>(n));
    int saved = errno;
    close(fd);
    errno = saved;
    if (n < 0)
        return {};
    return text;
}

// Whether the path is that of a descriptor, such as /dev/stdout, or of a device.
static bool is_descriptor(const std::string &path)
{
    return path.starts_with("/dev/") || path.starts_with("/proc/");
}

// Returns the place that a path leads to, through symbolic links, which may not be there yet.
static std::string behind_links(std::filesystem::path path)
{
    std::error_code none;
    for (int links = 0;
         links < 40 && !is_descriptor(path) && std::filesystem::is_symlink(path, none); links++)
        path = path.parent_path() / std::filesystem::read_symlink(path, none);
    return path.string();
}

bool write_file(const std::string &name, const std::string &text)
{
    struct stat info;
    if (stat(name.c_str(), &info) != 0 && errno == ELOOP)
        return false;
    const std::string path = behind_links(name);
    bool special =
        is_descriptor(path) || (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode));
    std::string target = special ? path : path + ".splitcc-" + std::to_string(getpid());
    FILE *file = std::fopen(target.c_str(), "we");
    if (!file)
        return false;
    bool ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    ok = std::fclose(file) == 0 && ok;
    if (!special && ok)
        ok = std::rename(target.c_str(), path.c_str()) == 0;
    if (!ok && !special) {
        int saved = errno;
        unlink(target.c_str());
        errno = saved;
    }
    return ok;
}

std::string cannot(const std::string &verb, const std::string &path)
{
    return "cannot " + verb + " '" + path + "': " + std::strerror(errno);
}

TemporaryDirectory::TemporaryDirectory()
{
    const char *base = std::getenv("TMPDIR");
    path_ = std::string(base && *base ? base : "/tmp") + "/splitcc-XXXXXX";
    if (!mkdtemp(path_.data()))
        throw std::runtime_error("cannot make a temporary directory " + path_ + ": " +
                                 std::strerror(errno) + "; set TMPDIR to one that can be written");
}

TemporaryDirectory::~TemporaryDirectory()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::file(const std::string &stem, const std::string &suffix)
{
    return path_ + "/" + std::to_string(files_++) + "-" + stem + suffix;
}

} // namespace splitcc
