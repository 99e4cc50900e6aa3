// SPDX-License-Identifier: BSD-3-Clause

#include "test/job.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>

#include "common/environment.h"
#include "common/process.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto patience = 30s; // for anything that has to happen; much longer than it takes

std::string contents(const fs::path &path)
{
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::size_t count(const std::string &text, const std::string &part)
{
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        times++;
    return times;
}

// The fields of a process's stat file after its name: state, parent, ...
std::istringstream stat_of(pid_t pid)
{
    const std::string line = contents("/proc/" + std::to_string(pid) + "/stat");
    return std::istringstream(line.substr(std::min(line.size(), line.rfind(')') + 1)));
}

pid_t parent_of(pid_t pid)
{
    std::string state;
    pid_t parent = 0;
    stat_of(pid) >> state >> parent;
    return parent;
}

} // namespace

bool eventually(std::chrono::milliseconds limit, const std::function<bool()> &condition)
{
    const auto end = Clock::now() + limit;
    while (!condition()) {
        if (Clock::now() > end)
            return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

std::string state_of(pid_t pid)
{
    std::string state;
    stat_of(pid) >> state;
    return state;
}

std::uint64_t cpu_ticks(pid_t pid)
{
    std::istringstream fields = stat_of(pid);
    std::string field;
    for (int i = 0; i < 11; i++) // state, parent, ... up to the processor times
        fields >> field;
    std::uint64_t user = 0, system = 0;
    fields >> user >> system;
    return user + system;
}

std::size_t count_lines(const std::string &text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TestJob::TestJob(const Strings &arguments, const Strings &environment)
{
    static unsigned count;
    mark_ = "UNETRUN_TEST=" + std::to_string(getpid()) + "." + std::to_string(count++) + ".";
    char name[] = "/tmp/unetrun-test-XXXXXX";
    tmpdir_ = mkdtemp(name);

    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC); // what the test's own parent has left open
    unetrun::Pipe in = unetrun::make_pipe(), out = unetrun::make_pipe(), err = unetrun::make_pipe();
    unetrun::Spawn what;
    what.file = UNETRUN_PROGRAM;
    what.arguments = arguments;
    what.arguments.insert(what.arguments.begin(), "unetrun");
    what.environment = unetrun::own_environment();
    unetrun::set_variable(what.environment, mark_);
    unetrun::set_variable(what.environment, "TMPDIR=" + tmpdir_.string());
    for (const std::string &variable : environment)
        unetrun::set_variable(what.environment, variable);
    what.in = in.read_end.get();
    what.out = out.write_end.get();
    what.err = err.write_end.get();
    sigemptyset(&what.signals);
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTSTP})
        signal(number, SIG_DFL); // or unetrun would ignore them with whoever runs the tests
    signal(SIGPIPE, SIG_DFL);
    pid_ = unetrun::spawn(what);
    signal(SIGPIPE, SIG_IGN);
    input_ = std::move(in.write_end);
    output_[0] = std::move(out.read_end);
    output_[1] = std::move(err.read_end);
}

TestJob::~TestJob()
{
    for (const pid_t pid : processes())
        kill(pid, SIGKILL);
    if (!reaped_) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    fs::remove_all(tmpdir_);
}

std::vector<pid_t> TestJob::processes() const
{
    std::vector<pid_t> found;
    for (const auto &entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") == std::string::npos &&
            contents(entry.path() / "environ").find(mark_) != std::string::npos)
            found.push_back(std::stoi(name));
    }
    return found;
}

pid_t TestJob::daemon() const
{
    for (const pid_t pid : processes())
        if (parent_of(pid) == pid_)
            return pid;
    return 0;
}

std::vector<pid_t> TestJob::named(const std::string &name) const
{
    std::vector<pid_t> found = processes();
    const auto is_other = [&](pid_t pid) {
        return contents("/proc/" + std::to_string(pid) + "/comm") != name + "\n";
    };
    found.erase(std::remove_if(found.begin(), found.end(), is_other), found.end());
    return found;
}

std::vector<std::string> TestJob::files() const
{
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(tmpdir_))
        names.push_back(entry.path().filename());
    return names;
}

bool TestJob::clean_within(std::chrono::milliseconds limit) const
{
    return eventually(limit, [this] { return processes().empty() && files().empty(); });
}

std::string TestJob::leftovers() const
{
    std::string text;
    for (const pid_t pid : processes())
        text += "process " + std::to_string(pid) + " of " + std::to_string(parent_of(pid)) + " (" +
                contents("/proc/" + std::to_string(pid) + "/comm") + ") ";
    for (const std::string &name : files())
        text += "file " + name + " ";
    return text;
}

void TestJob::write_input(const std::string &bytes)
{
    std::size_t written = 0;
    unetrun::set_nonblocking(input_.get());
    eventually(patience, [&] {
        const ssize_t n = write(input_.get(), bytes.data() + written, bytes.size() - written);
        written += n > 0 ? static_cast<std::size_t>(n) : 0;
        take_output(0ms);
        return written == bytes.size() || (n < 0 && errno != EAGAIN);
    });
}

// Takes what unetrun has written, waiting for it so long.
void TestJob::take_output(std::chrono::milliseconds limit)
{
    pollfd entries[2] = {{output_[0].get(), POLLIN, 0}, {output_[1].get(), POLLIN, 0}};
    if (poll(entries, 2, static_cast<int>(limit.count())) <= 0)
        return;
    std::array<char, 64 << 10> buffer;
    for (int i = 0; i < 2; i++) {
        if (entries[i].revents == 0)
            continue;
        const ssize_t n = read(entries[i].fd, buffer.data(), buffer.size());
        if (n > 0)
            text_[i].append(buffer.data(), static_cast<std::size_t>(n));
        else
            output_[i].reset();
    }
}

bool TestJob::prints(const std::string &text, std::size_t times)
{
    const auto end = Clock::now() + patience;
    while (count(text_[0], text) < times && Clock::now() < end && (output_[0] || output_[1]))
        take_output(100ms);
    return count(text_[0], text) >= times;
}

bool TestJob::exited()
{
    reaped_ = reaped_ || waitpid(pid_, &status_, WNOHANG) == pid_;
    return reaped_;
}

int TestJob::wait()
{
    const auto end = Clock::now() + patience;
    while ((output_[0] || output_[1]) && Clock::now() < end)
        take_output(100ms);
    if (!eventually(patience, [this] { return exited(); }))
        return -1;
    return unetrun::exit_code_of(status_);
}

TestJob::Strings sorted_lines(const std::string &text)
{
    TestJob::Strings lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}
