// SPDX-License-Identifier: BSD-3-Clause
#include "conformance/process.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char *path, const std::string &text)
{
    int fd = open(path, O_WRONLY);

    if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        std::perror(path);
    if (fd >= 0)
        close(fd);
}

Board::Board()
{
    void *page =
        mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    REQUIRE(page != MAP_FAILED);
    contents = new (page) Contents{};
}

Board::~Board()
{
    munmap(contents, sizeof *contents);
}

void Board::show(unsigned i, unet_endpoint *ep) const
{
    unet_address(ep, &contents->address[i]);
    raise(i);
}

struct unet_address Board::see(unsigned i) const
{
    eventually([&] { return raised(i); });
    return contents->address[i];
}

// What was printed is printed once, and what a child prints not lost.
static pid_t fork_flushed()
{
    std::cout.flush();
    std::fflush(nullptr);
    return fork();
}

// Within tests/testbed/within.sh a child is on the other host.
static bool choose_host()
{
    const char *other = std::getenv("OTHER_NETWORK");
    const int network = other ? open(other, O_RDONLY | O_CLOEXEC) : -1;

    if (other && (network < 0 || setns(network, CLONE_NEWNET) != 0)) {
        std::perror(other);
        return false;
    }
    close(network);
    return true;
}

Child::Child(const std::function<bool()> &body) : id(fork_flushed())
{
    REQUIRE(id >= 0);
    if (id > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool good = false;
    try {
        good = choose_host() && body();
    } catch (...) {
        // A REQUIRE that failed has said so already.
    }
    std::cout.flush();
    std::fflush(nullptr);
    _exit(good ? 0 : 1);
}

Child::~Child()
{
    if (ended())
        return;
    kill();
    waitpid(id, nullptr, 0);
}

void Child::kill()
{
    ::kill(id, SIGKILL);
}

bool Child::ended()
{
    int raw = 0;

    if (status < 0 && waitpid(id, &raw, WNOHANG) == id)
        status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
    return status >= 0;
}

int Child::wait()
{
    eventually([&] { return ended(); });
    return status;
}

uint16_t meet(unet_endpoint *ep, const Board &board, unsigned there, uint64_t tag)
{
    struct unet_address address = board.see(there);
    uint16_t channel;

    if (unet_connect(ep, &address, tag, &channel) != 0)
        return 0;
    if (!eventually([&] { return unet_channel_state(ep, channel) == UNET_OPEN; }))
        return 0;
    return channel;
}

static bool loopback_up()
{
    return std::system("ip link set lo up") == 0;
}

bool enter_network()
{
    const std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());

    if (geteuid() == 0)
        return unshare(CLONE_NEWNET) == 0 && loopback_up();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "0 " + uid + " 1");
    write_file("/proc/self/gid_map", "0 " + gid + " 1");
    return loopback_up();
}
