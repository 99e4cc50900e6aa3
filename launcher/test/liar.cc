// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun_liar LIE COMMAND...: a host that lies.  It starts the relay that COMMAND is and passes on
// what that and the front end say to each other; once a rank of it runs, or at once, it adds
// something that it has no right to say of rank 0, which is another host's.
#include <cstdlib>
#include <map>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "common/environment.h"
#include "common/process.h"
#include "common/protocol.h"

using namespace unetrun;

namespace {

// A lie, told by a node.
std::string lie(const std::string &about, std::uint32_t node)
{
    constexpr std::uint32_t another_rank = 0, another_node = 0, no_rank = 1 << 20;
    const std::map<std::string, std::string> lies{
        {"output", encode(Output{another_rank, Stream::out, "forged\n"}, node)},
        {"started", encode(Started{another_rank, 1}, node)},
        {"exited", encode(Exited{another_rank, SIGKILL, true, false, "", "forged"}, node)},
        {"aborted", encode(Aborted{another_rank, 77, "forged"}, node)},
        {"report", encode(Report{another_rank, "forged"}, node)},
        {"no-rank", encode(Started{no_rank, 1}, node)},
        {"early", encode(Fence{1, {}, ""}, node)},
        {"node", encode(Output{another_rank, Stream::out, "forged\n"}, another_node)},
    };
    return lies.at(about);
}

void put(int fd, const std::string &bytes)
{
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
        if (n <= 0)
            std::exit(1);
        done += static_cast<std::size_t>(n);
    }
}

std::string take_some(int fd)
{
    char bytes[4096];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    return std::string(bytes, n > 0 ? static_cast<std::size_t>(n) : 0);
}

// What the relay says, and the lie in its place.
class Upward {
public:
    explicit Upward(std::string about) : about_(std::move(about)) {}

    void pass(const std::string &bytes)
    {
        reader_.feed(bytes);
        while (const auto frame = reader_.next()) {
            put(STDOUT_FILENO, encode(*frame));
            const bool of_daemon = frame->type == FrameType::hello && frame->node != 0;
            if (about_ == "early" ? of_daemon : frame->type == FrameType::started)
                put(STDOUT_FILENO, lie(about_, frame->node));
        }
    }

private:
    std::string about_;
    FrameReader reader_;
};

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    Pipe down = make_pipe(), up = make_pipe();
    Spawn relay;
    relay.file = find_program(argv[2], std::getenv("PATH"));
    relay.arguments.assign(argv + 2, argv + argc);
    relay.environment = own_environment();
    relay.in = down.read_end.get();
    relay.out = up.write_end.get();
    sigemptyset(&relay.signals);
    const pid_t pid = spawn(relay);
    down.read_end.reset();
    up.write_end.reset();

    Upward upward(argv[1]);
    pollfd from[2] = {{STDIN_FILENO, POLLIN, 0}, {up.read_end.get(), POLLIN, 0}};
    while (poll(from, 2, -1) > 0) {
        const std::string heard = from[1].revents ? take_some(from[1].fd) : "";
        const std::string told = from[0].revents ? take_some(from[0].fd) : "";
        if ((from[0].revents && told.empty()) || (from[1].revents && heard.empty()))
            break;
        upward.pass(heard);
        put(down.write_end.get(), told);
    }
    down.write_end.reset();
    waitpid(pid, nullptr, 0);
    return 0;
}
