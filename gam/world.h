// SPDX-License-Identifier: BSD-3-Clause
//
// world.h - several ranks in one test: threads over loopback, processes over shm,
// processes over shm made unreliable ("chaos"), and both: even and odd ranks
// are two nodes, within each shm, between them chaos ("mixed").
//
// Catch2 belongs to the main thread of the first process.  A rank therefore
// reports what it expected and saw through shared memory, and run() checks
// that no rank has reported anything.
#ifndef GAM_WORLD_H
#define GAM_WORLD_H

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <gam/gam.h>
#include <reliable/reliable.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unet/unet.h>
#include <vector>

namespace world {

constexpr uint32_t MAX_RANKS = 8;
constexpr uint32_t SLOTS = 16;

struct Shared;

struct Options {
    uint32_t window = 0;
    bool polled = false;
    bool may_die = false; // ranks may leave without meeting the others
    reliable_auth auth = RELIABLE_AUTH_FULL;
};

class Failure : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One rank, in its own thread or process.
class Rank {
public:
    Rank(Shared &shared, const std::string &backend, uint32_t me, uint32_t ranks,
         const Options &options);
    ~Rank();
    Rank(const Rank &) = delete;
    Rank &operator=(const Rank &) = delete;

    gam *g = nullptr;
    unet_endpoint *ep = nullptr;
    unet_endpoint *network = nullptr; // of "mixed" alone
    const uint32_t me, ranks;
    uint64_t count[SLOTS] = {}; // for handlers
    std::vector<uint64_t> log;  // for handlers

    uint32_t right() const { return (me + 1) % ranks; }
    uint32_t left() const { return (me + ranks - 1) % ranks; }

    void handler(uint32_t index, gam_handler_fn *fn);

    // Poll until it is true.
    void until(const char *what, const std::function<bool()> &done);
    // Meet the others, serving them meanwhile.
    void barrier();

    // Values that ranks show each other; read after a barrier.
    void show(uint32_t slot, uint64_t value);
    template <class T> void show(uint32_t slot, T *address)
    {
        show(slot, reinterpret_cast<uintptr_t>(address));
    }
    uint64_t shown(uint32_t rank, uint32_t slot) const;
    uint8_t *address(uint32_t rank, uint32_t slot) const
    {
        return reinterpret_cast<uint8_t *>(static_cast<uintptr_t>(shown(rank, slot)));
    }

    // Outside handlers: end the rank unless equal.
    template <class A, class B> void expect(const std::string &what, const A &seen, const B &wanted)
    {
        if (!(seen == wanted))
            throw Failure(text(what, seen, wanted));
    }
    // Inside handlers, which no exception may leave.
    template <class A, class B> void note(const std::string &what, const A &seen, const B &wanted)
    {
        if (!(seen == wanted))
            fail(text(what, seen, wanted));
    }
    void fail(const std::string &message);

    struct gam_stats stats() const;

private:
    template <class A, class B>
    static std::string text(const std::string &what, const A &seen, const B &wanted)
    {
        std::ostringstream out;

        out << what << ": saw " << seen << ", expected " << wanted;
        return out.str();
    }
    unet_endpoint *open_endpoint(const std::string &backend, const Options &options);
    void open(const std::string &backend, const Options &options);
    void check_others(const char *what) const;

    Shared &shared_;
};

// The rank that runs here: for handlers.
Rank &self();

using Body = std::function<void(Rank &)>;

// Run `body` on that many ranks of a backend and check that none has failed.
void run(const std::string &backend, uint32_t ranks, const Body &body, const Options &options = {});

// All backends, one after the other: generators for test cases.
#ifndef WORLD_BACKENDS
#define WORLD_BACKENDS "loopback", "shm", "chaos", "mixed"
#define WORLD_NETWORKS "chaos"
#elif !defined WORLD_NETWORKS
#define WORLD_NETWORKS WORLD_BACKENDS
#endif
#define EACH_BACKEND GENERATE(as<std::string>{}, WORLD_BACKENDS)
#define EACH_NETWORK GENERATE(as<std::string>{}, WORLD_NETWORKS)
#define EACH_RELIABLE_BACKEND GENERATE(as<std::string>{}, "loopback", "shm")

// Memory between guard bytes, `skew` bytes off a multiple of 64.
class Guarded {
public:
    explicit Guarded(size_t n, size_t skew = 0);
    uint8_t *data() { return storage_.data() + start_; }
    size_t size() const { return n_; }
    void fill(uint64_t seed);
    void clear();
    // "" or what is wrong with contents or guards.
    std::string wrong(uint64_t seed) const;

private:
    size_t n_, start_;
    std::vector<uint8_t> storage_;
};

uint8_t pattern(uint64_t seed, size_t i);
std::string pattern_wrong(const void *data, size_t n, uint64_t seed);

} // namespace world

#endif
