// SPDX-License-Identifier: BSD-3-Clause
#include "world.h"

#include <algorithm>
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

void need(bool condition, const std::string &what)
{
    if (!condition)
        throw std::runtime_error(what);
}

std::string missing(const std::string &backend)
{
    char network[UNET_NETWORK_MAX];
    const unet_ops *ops = unet_backend(backend.c_str());
    const int result = ops ? unet_probe(ops, network) : -EINVAL;

    return result < 0 ? backend + ": " + std::strerror(-result) : "";
}

Node::Node(const Way &way, Shared *both, unsigned me, bool with_stack) : shared(both), me_(me)
{
    struct unet_config config = {};
    struct unet_chaos chaos = {};
    struct ip_config ip = {};
    const unet_ops *ops = unet_backend(way.backend.c_str());

    config.segment_bytes = way.segment;
    ip_endpoint_config(&config);
    need(way.chaos.empty() || unet_chaos_parse(way.chaos.c_str(), &chaos) == 0, "chaos");
    chaos.seed += me;
    need((way.chaos.empty() ? unet_open(ops, &config, &ep)
                            : unet_chaos_open(ops, &chaos, &config, &ep)) == 0,
         "unet_open");
    unet_address(ep, &shared->address[me]);
    shared->ready[me] = 1;
    while (!shared->ready[!me])
        sched_yield();
    need(unet_connect(ep, &shared->address[!me], 0x1234567, &channel) == 0, "unet_connect");
    while (unet_channel_state(ep, channel) == UNET_CONNECTING)
        if (unet_progress(ep) == 0)
            sched_yield();
    if (!with_stack)
        return;
    ip.address = at(me == 0 ? "10.0.0.1" : "10.0.0.2", 0).sin_addr;
    ip.mtu = way.mtu;
    ip.timer_ms = way.timer_ms;
    need(ip_open(ep, &ip, &stack) == 0, "ip_open");
    need(ip_route_add(stack, peer(0).sin_addr, 32, channel) == 0, "ip_route_add");
}

Node::~Node()
{
    ip_close(stack);
    unet_close(ep);
}

struct sockaddr_in Node::at(const char *address, in_port_t port) const
{
    struct sockaddr_in to = {};

    to.sin_family = AF_INET;
    to.sin_port = port;
    inet_pton(AF_INET, address, &to.sin_addr);
    return to;
}

struct sockaddr_in Node::peer(in_port_t port) const
{
    return at(me_ == 0 ? "10.0.0.2" : "10.0.0.1", port);
}

namespace {

pid_t start(const Way &way, Shared *shared, unsigned me, const std::function<void(Node &)> &body,
            bool with_stack, int report)
{
    std::fflush(nullptr);
    const pid_t pid = fork();

    REQUIRE(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        Node node(way, shared, me, with_stack);
        body(node);
    } catch (const std::exception &e) {
        dprintf(report, "process %u: %s\n", me, e.what());
        _exit(1);
    }
    _exit(0);
}

} // namespace

void run_both(const Way &way, const std::function<void(Node &)> &first,
              const std::function<void(Node &)> &second, int seconds, bool second_has_stack)
{
    void *page =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int report[2];

    REQUIRE(page != MAP_FAILED);
    REQUIRE(pipe(report) == 0);
    auto *shared = new (page) Shared{};
    const pid_t pid[2] = {start(way, shared, 0, first, true, report[1]),
                          start(way, shared, 1, second, second_has_stack, report[1])};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    unsigned left = 2;
    bool good = true;

    close(report[1]);
    while (left > 0) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended == pid[0] || ended == pid[1]) {
            left--;
            good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (left > 0 && (!good || std::chrono::steady_clock::now() > end)) {
            kill(pid[0], SIGKILL);
            kill(pid[1], SIGKILL);
            while (left-- > 0)
                waitpid(-1, &status, 0);
            good = false;
            break;
        }
        if (ended == 0)
            usleep(2000); // only how often this process looks
    }
    char text[512] = {};
    const ssize_t length = read(report[0], text, sizeof text - 1);
    close(report[0]);
    munmap(page, sizeof(Shared));
    INFO(way.backend << " " << way.chaos << ": " << (length > 0 ? text : ""));
    REQUIRE(good);
}

// The stream's bytes repeat after a prime number of them, so that no whole number of segments or
// buffers can be missing unseen.
static constexpr size_t kPeriod = 65521;

static const uint8_t *pattern()
{
    static const std::vector<uint8_t> bytes = [] {
        std::vector<uint8_t> made(kPeriod);
        for (size_t i = 0; i < kPeriod; i++)
            made[i] = static_cast<uint8_t>((i * 0x9e3779b97f4a7c15u) >> 56);
        return made;
    }();
    return bytes.data();
}

void fill(uint8_t *bytes, size_t length, uint64_t from)
{
    for (size_t at = from % kPeriod, part; length > 0; length -= part, bytes += part, at = 0) {
        part = std::min(length, kPeriod - at);
        std::memcpy(bytes, pattern() + at, part);
    }
}

bool matches(const uint8_t *bytes, size_t length, uint64_t from)
{
    for (size_t at = from % kPeriod, part; length > 0; length -= part, bytes += part, at = 0) {
        part = std::min(length, kPeriod - at);
        if (std::memcmp(bytes, pattern() + at, part) != 0)
            return false;
    }
    return true;
}

uint32_t Random::below(uint32_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>((state >> 11) % bound);
}
