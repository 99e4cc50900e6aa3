// SPDX-License-Identifier: BSD-3-Clause
//
// world.cc - ranks as threads or as processes.
#include "world.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <reliable/reliable.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unet/unet_chaos.h>
#include <unistd.h>

namespace world {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds PATIENCE{40};
constexpr uint64_t KEY = 0x5eed5eed5eed5eed;

thread_local Rank *this_rank = nullptr;

} // namespace

struct Shared {
    std::atomic<uint32_t> published{0};
    std::atomic<uint32_t> arrived{0};
    std::atomic<uint32_t> meetings{0};
    std::atomic<bool> failed{false};
    struct unet_address address[MAX_RANKS], network[MAX_RANKS];
    std::atomic<uint64_t> slot[MAX_RANKS][SLOTS];
    std::atomic<bool> has_failed[MAX_RANKS];
    char failure[MAX_RANKS][512];
};

// ---- ranks ------------------------------------------------------------------

Rank &self()
{
    return *this_rank;
}

Rank::Rank(Shared &shared, const std::string &backend, uint32_t my_rank, uint32_t of,
           const Options &options)
    : me(my_rank), ranks(of), shared_(shared)
{
    this_rank = this;
    open(backend, options);
}

Rank::~Rank()
{
    gam_close(g);
    unet_close(ep);
    unet_close(network);
    this_rank = nullptr;
}

// Whether its endpoints need the protocol in front of them.
static bool is_lossy(const std::string &backend)
{
    return backend != "loopback" && backend != "shm" && backend != "ofi";
}

// A twentieth is lost, and so on; each rank has bad luck of its own.
static int open_lower(const std::string &backend, uint32_t me, const unet_config &config,
                      unet_endpoint **ep)
{
    const unet_chaos chaos = {0.05, 0.02, 0.1, 0.01, 0.01, 1 + me};

    if (backend == "chaos")
        return unet_chaos_open(unet_backend("shm"), &chaos, &config, ep);
    return unet_open(unet_backend(backend.c_str()), &config, ep);
}

unet_endpoint *Rank::open_endpoint(const std::string &backend, const Options &options)
{
    const reliable_config config = {ranks, me, {KEY, ~KEY}, 0, options.auth, RELIABLE_STREAM_BYTES,
                                    0};
    unet_config sizes = {};
    unet_endpoint *ep, *lower;

    sizes.polled = options.polled;
    if (!is_lossy(backend)) {
        (backend == "ofi" ? gam_network_config : gam_endpoint_config)(ranks, options.window,
                                                                      &sizes);
        expect("unet_open", open_lower(backend, me, sizes, &ep), 0);
        return ep;
    }
    reliable_lower_config(ranks, &sizes);
    expect("unet_open", open_lower(backend, me, sizes, &lower), 0);
    gam_network_config(ranks, options.window, &sizes);
    expect("reliable_open", reliable_open(lower, &config, &sizes, &ep), 0);
    return ep;
}

// Of "mixed": even and odd ranks are two nodes.
static bool same_node(uint32_t a, uint32_t b)
{
    return a % 2 == b % 2;
}

void Rank::open(const std::string &backend, const Options &options)
{
    gam_config config = {};

    ep = open_endpoint(backend == "mixed" ? "shm" : backend, options);
    unet_address(ep, &shared_.address[me]);
    if (backend == "mixed") {
        network = open_endpoint("chaos", options);
        unet_address(network, &shared_.network[me]);
    }
    shared_.published++;
    while (shared_.published < ranks) {
        check_others("opening endpoints");
        sched_yield();
    }

    config.ranks = ranks;
    config.rank = me;
    config.window = options.window;
    config.key[0] = KEY;
    config.key[1] = ~KEY;
    config.resolve_arg = &shared_;
    config.network = network;
    config.resolve = [](void *arg, uint32_t rank, struct unet_address *address) {
        const bool far = self().network && !same_node(self().me, rank);
        const auto *shared = static_cast<Shared *>(arg);

        *address = far ? shared->network[rank] : shared->address[rank];
        return far ? 1 : 0;
    };
    expect("gam_open", gam_open(ep, &config, &g), 0);
}

void Rank::handler(uint32_t index, gam_handler_fn *fn)
{
    expect("gam_register", gam_register(g, index, fn), 0);
}

void Rank::fail(const std::string &message)
{
    if (!shared_.has_failed[me].exchange(true))
        std::strncpy(shared_.failure[me], message.c_str(), sizeof(shared_.failure[me]) - 1);
    shared_.failed = true;
}

void Rank::check_others(const char *what) const
{
    if (shared_.failed)
        throw Failure(std::string("gave up ") + what + ", because a rank has failed");
}

void Rank::until(const char *what, const std::function<bool()> &done)
{
    const auto deadline = Clock::now() + PATIENCE;

    for (uint32_t idle = 0; !done();) {
        check_others(what);
        if (gam_poll(g) > 0)
            continue;
        if (++idle % 16 == 0)
            sched_yield();
        if (idle % 4096 == 0 && Clock::now() > deadline)
            throw Failure(std::string("time is up: ") + what);
    }
}

void Rank::barrier()
{
    const uint32_t meeting = shared_.meetings;

    if (++shared_.arrived == ranks) {
        shared_.arrived = 0;
        shared_.meetings++;
        return;
    }
    until("barrier", [&] { return shared_.meetings != meeting; });
}

void Rank::show(uint32_t slot, uint64_t value)
{
    shared_.slot[me][slot] = value;
}

uint64_t Rank::shown(uint32_t rank, uint32_t slot) const
{
    return shared_.slot[rank][slot];
}

struct gam_stats Rank::stats() const
{
    struct gam_stats stats;

    gam_stats(g, &stats);
    return stats;
}

// ---- worlds -----------------------------------------------------------------

namespace {

void live(Shared &shared, const std::string &backend, uint32_t me, uint32_t ranks, const Body &body,
          const Options &options)
{
    std::unique_ptr<Rank> rank;

    try {
        rank = std::make_unique<Rank>(shared, backend, me, ranks, options);
        rank->barrier();
        body(*rank);
        if (!options.may_die)
            rank->barrier();
    } catch (const std::exception &e) {
        if (rank)
            rank->fail(e.what());
        else if (!shared.has_failed[me].exchange(true)) {
            std::strncpy(shared.failure[me], e.what(), sizeof(shared.failure[me]) - 1);
            shared.failed = true;
        }
    }
}

void run_threads(Shared &shared, const std::string &backend, uint32_t ranks, const Body &body,
                 const Options &options)
{
    std::vector<std::thread> threads;

    for (uint32_t me = 0; me < ranks; me++)
        threads.emplace_back([&, me] { live(shared, backend, me, ranks, body, options); });
    for (auto &thread : threads)
        thread.join();
}

// Within tests/testbed/within.sh every other rank is on another host.
void choose_host(uint32_t me)
{
    const char *other = me % 2 == 1 ? getenv("OTHER_NETWORK") : nullptr;
    const int network = other ? open(other, O_RDONLY | O_CLOEXEC) : -1;

    if (other && (network < 0 || setns(network, CLONE_NEWNET) != 0)) {
        std::perror(other);
        _exit(1);
    }
    close(network);
}

void run_processes(Shared &shared, const std::string &backend, uint32_t ranks, const Body &body,
                   const Options &options)
{
    std::vector<pid_t> pids;

    for (uint32_t me = 0; me < ranks; me++) {
        pid_t pid = fork();

        REQUIRE(pid >= 0);
        if (pid == 0) {
            choose_host(me);
            live(shared, backend, me, ranks, body, options);
            _exit(0);
        }
        pids.push_back(pid);
    }
    for (uint32_t me = 0; me < ranks; me++) {
        int status = -1;

        REQUIRE(waitpid(pids[me], &status, 0) == pids[me]);
        INFO("rank " << me << " ended with wait status " << status);
        CHECK((status == 0 ||
               (options.may_die && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)));
        if (status != 0 && !options.may_die)
            shared.failed = true;
    }
}

} // namespace

void run(const std::string &name, uint32_t ranks, const Body &body, const Options &options)
{
    void *memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    REQUIRE(memory != MAP_FAILED);
    REQUIRE(ranks <= MAX_RANKS);
    Shared &shared = *new (memory) Shared;

    if (name == "loopback")
        run_threads(shared, name, ranks, body, options);
    else
        run_processes(shared, name, ranks, body, options);

    for (uint32_t me = 0; me < ranks; me++) {
        INFO(name << ", " << ranks << " ranks, rank " << me);
        CHECK(std::string(shared.failure[me]) == "");
    }
    munmap(memory, sizeof(Shared));
}

// ---- contents ---------------------------------------------------------------

namespace {

constexpr size_t GUARD = 64;
constexpr uint8_t GUARD_BYTE = 0xa5;

} // namespace

uint8_t pattern(uint64_t seed, size_t i)
{
    uint64_t x = (seed + i) * 0x9e3779b97f4a7c15u;

    return static_cast<uint8_t>(x >> 56);
}

std::string pattern_wrong(const void *data, size_t n, uint64_t seed)
{
    const auto *bytes = static_cast<const uint8_t *>(data);

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != pattern(seed, i)) {
            std::ostringstream out;

            out << "byte " << i << " of " << n << " is " << unsigned(bytes[i]) << ", expected "
                << unsigned(pattern(seed, i));
            return out.str();
        }
    }
    return "";
}

Guarded::Guarded(size_t n, size_t skew) : n_(n), storage_(n + skew + 3 * GUARD, GUARD_BYTE)
{
    const auto base = reinterpret_cast<uintptr_t>(storage_.data());

    start_ = GUARD + (64 - (base + GUARD) % 64) % 64 + skew;
}

void Guarded::fill(uint64_t seed)
{
    for (size_t i = 0; i < n_; i++)
        data()[i] = pattern(seed, i);
}

void Guarded::clear()
{
    if (n_ > 0)
        std::memset(data(), 0, n_);
}

std::string Guarded::wrong(uint64_t seed) const
{
    for (size_t i = 0; i < storage_.size(); i++) {
        const bool inside = i >= start_ && i < start_ + n_;

        if (!inside && storage_[i] != GUARD_BYTE)
            return "a guard byte " +
                   std::to_string(static_cast<long>(i) - static_cast<long>(start_)) +
                   " bytes from the start was overwritten";
    }
    return pattern_wrong(storage_.data() + start_, n_, seed);
}

} // namespace world
