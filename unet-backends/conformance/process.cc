// SPDX-License-Identifier: BSD-3-Clause
#include "conformance/process.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

Child::Child(const std::function<bool()> &body) : id(fork())
{
    REQUIRE(id >= 0);
    if (id > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool good = false;
    try {
        good = body();
    } catch (...) {
        // A REQUIRE that failed has said so already.
    }
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
