// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <fstream>
#include <sstream>

#include "common/test_scratch.h"
#include "front/terminal.h"

using namespace unetrun;

namespace {

// This process' standard output or error leads to a file while it lives.
class Redirected {
public:
    Redirected(int fd, int to) : fd_(fd), before_(fcntl(fd, F_DUPFD_CLOEXEC, 10))
    {
        REQUIRE(dup2(to, fd) == fd);
    }
    ~Redirected() { dup2(before_.get(), fd_); }
    Redirected(const Redirected &) = delete;
    Redirected &operator=(const Redirected &) = delete;

private:
    int fd_;
    Fd before_;
};

std::string content_of(const std::filesystem::path &path)
{
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

struct Taken {
    std::uint32_t node, bytes;
    bool operator==(const Taken &) const = default;
};

struct Session {
    Scratch scratch;
    std::filesystem::path out = scratch.path / "out", err = scratch.path / "err";
    std::vector<Taken> taken;
    std::vector<int> broken;

    // Two pieces of output of rank 3, on node 7, and a line of unetrun itself.
    void run(bool one_file, const char *out_file)
    {
        const Fd to(open(out_file ? out_file : out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
        const Fd other(open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
        REQUIRE(to);
        const Redirected first(STDOUT_FILENO, to.get());
        const Redirected second(STDERR_FILENO, one_file ? to.get() : other.get());
        Poller poller;
        Mailbox mailbox(poller);
        Terminal terminal(
            mailbox, false, {},
            [this](std::uint32_t node, std::uint32_t bytes) {
                taken.push_back({node, bytes});
            },
            [this](const std::string &, int error) { broken.push_back(error); });
        const auto settle = [&] {
            while (terminal.pending())
                poller.run_once(Clock::now() + std::chrono::seconds(10));
        };
        terminal.put(7, {3, Stream::out, "x"});
        settle();
        terminal.put(7, {3, Stream::err, "error\n"});
        settle();
        terminal.say("a line");
        settle();
        terminal.put(7, {3, Stream::out, "yz"});
        settle();
    }
};

} // namespace

TEST_CASE("terminal: streams that lead to one file keep their lines apart there")
{
    Session session;
    session.run(true, nullptr);
    CHECK(content_of(session.out) == "x\nerror\nunetrun: a line\nyz");
}

TEST_CASE("terminal: streams that lead to two files know nothing of each other")
{
    Session session;
    session.run(false, nullptr);
    CHECK(content_of(session.out) == "xyz");
    CHECK(content_of(session.err) == "error\nunetrun: a line\n");
    CHECK(session.broken.empty());
}

TEST_CASE("terminal: every byte of a rank's is credit for its node, and none of unetrun's")
{
    Session session;
    session.run(false, nullptr);
    CHECK(session.taken == std::vector<Taken>{{7, 1}, {7, 6}, {7, 2}});
}

TEST_CASE("terminal: output that cannot be written is told once, and counts as taken")
{
    Session session;
    session.run(false, "/dev/full");
    CHECK(session.broken == std::vector<int>{ENOSPC});
    CHECK(session.taken == std::vector<Taken>{{7, 1}, {7, 6}, {7, 2}});
    CHECK(content_of(session.err) == "error\nunetrun: a line\n");
}

TEST_CASE("a terminal: each rank's file, those of others are dropped and credited")
{
    const Scratch scratch;
    const std::string first = scratch.path / "0", second = scratch.path / "1";
    std::vector<Taken> taken;
    std::vector<std::string> broken;
    Poller poller;
    Mailbox mailbox(poller);
    Terminal terminal(
        mailbox, true, {0, 1},
        [&](std::uint32_t node, std::uint32_t bytes) {
            taken.push_back({node, bytes});
        },
        [&](const std::string &file, int error) {
            CHECK(error == ENOENT);
            broken.push_back(file);
        });
    const auto settle = [&] {
        while (terminal.pending())
            poller.run_once(Clock::now() + std::chrono::seconds(10));
    };

    terminal.use_files({first, second, second});
    terminal.put(7, {0, Stream::out, "a\nb"});
    terminal.put(7, {0, Stream::err, "c\n"});
    terminal.put(8, {1, Stream::out, "d\n"});
    terminal.put(9, {2, Stream::out, "not shown\n"});
    settle();
    CHECK(content_of(first) == "[0] a\n[0] b\n[0] c\n");
    CHECK(content_of(second) == "[1] d\n");
    std::uint32_t sum = 0;
    for (const Taken &t : taken)
        sum += t.bytes;
    CHECK(sum == 3 + 2 + 2 + 10);

    terminal.use_files({scratch.path / "none" / "0", second, second});
    terminal.put(7, {0, Stream::out, "lost\n"});
    settle();
    terminal.put(7, {0, Stream::out, "lost, too\n"});
    settle();
    CHECK(broken == std::vector<std::string>{scratch.path / "none" / "0"});
}
