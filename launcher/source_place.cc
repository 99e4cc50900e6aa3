// SPDX-License-Identifier: BSD-3-Clause

#include "source_place.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
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

bool is_own(const std::string &place)
{
    return place.rfind("??", 0) != 0 && place.find("split-c/abi.h:") == std::string::npos &&
           place.find(":?") == std::string::npos;
}

} // namespace

// An address begins with a line of its own; the places that it was inlined into follow.
std::vector<std::string> places_in(const std::string &words, std::size_t count)
{
    std::vector<std::string> places(count);
    std::istringstream lines(words);
    std::size_t begun = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::string place = line.substr(0, line.find(" (discriminator"));
        if (line.rfind("0x", 0) == 0)
            begun++;
        else if (begun > 0 && begun <= count && places[begun - 1].empty() && is_own(place))
            places[begun - 1] = place;
    }
    return places;
}

std::vector<std::string> source_places(const std::string &program,
                                       const std::vector<std::uint64_t> &pcs,
                                       const std::vector<std::string> &environment)
{
    const bool known = std::any_of(pcs.begin(), pcs.end(), [](std::uint64_t pc) { return pc; });
    try {
        if (!known)
            return std::vector<std::string>(pcs.size());
        const std::string tool = find_program("addr2line", value_of(environment, "PATH"));
        std::vector<std::string> command = {tool, "-a", "-i", "-e", program};
        std::transform(pcs.begin(), pcs.end(), std::back_inserter(command), hexadecimal);
        return places_in(run(command, environment), pcs.size());
    } catch (const Failure &) {
        return std::vector<std::string>(pcs.size());
    }
}

} // namespace unetrun
