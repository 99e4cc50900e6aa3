// SPDX-License-Identifier: BSD-3-Clause

#include "source_place.h"

#include <array>
#include <cstdio>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>

#include "options.h"
#include "poller.h"
#include "process.h"

namespace unetrun {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2000ms; // for a program of any size

std::string hexadecimal(std::uint64_t number)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

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

std::string run(const std::vector<std::string> &arguments,
                const std::vector<std::string> &environment)
{
    Pipe output = make_pipe();
    const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    Spawn what;
    what.file = arguments.front();
    what.arguments = arguments;
    what.environment = environment;
    what.standard[0] = what.standard[2] = null.get();
    what.standard[1] = output.write_end.get();
    sigemptyset(&what.signals);
    what.dies_with_parent = true;
    const pid_t pid = spawn(what);
    output.write_end.reset();
    std::string text = read_until(output.read_end.get(), Clock::now() + patience);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return text;
}

} // namespace

std::string place_in(const std::string &words)
{
    std::istringstream lines(words);
    for (std::string line; std::getline(lines, line);) {
        const std::string place = line.substr(0, line.find(" (discriminator"));
        if (place.rfind("??", 0) != 0 && place.find("split-c/abi.h:") == std::string::npos &&
            place.find(":?") == std::string::npos)
            return place;
    }
    return {};
}

std::string source_place(const std::string &program, std::uint64_t pc,
                         const std::vector<std::string> &environment)
{
    try {
        const std::string tool = find_program("addr2line", value_of(environment, "PATH"));
        return place_in(run({tool, "-i", "-e", program, hexadecimal(pc)}, environment));
    } catch (const Failure &) {
        return {};
    }
}

} // namespace unetrun
