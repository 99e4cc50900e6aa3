// SPDX-License-Identifier: BSD-3-Clause
//
// window_test.cc - ranks that see each other's memory: what their owner need not help with, and
// what it can rely on all the same.  vmmc_test.cc runs over them, too.
#include "links.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vmmc/vmmc.h>

using namespace world;

namespace {

enum { FIRST = 10, OWNER = 1, DONE = 0, GO = 1 };
constexpr uint64_t NAME = 1, SECRET = 2;
constexpr size_t N = 300000;

// Rank 0 sends to a redirectable buffer of rank 1's.
struct Pair {
    Rank &r;
    vmmc *v = nullptr;
    vmmc_exported *e = nullptr;
    vmmc_imported *i = nullptr;
    Guarded memory{N};

    explicit Pair(Rank &rank) : r(rank)
    {
        r.expect("vmmc_open", vmmc_open(r.g, FIRST, &v), 0);
        memory.fill(r.me == OWNER ? 1 : 7);
        if (r.me == OWNER)
            open_export(NAME, memory);
        else
            r.expect("vmmc_import", vmmc_import(v, OWNER, NAME, SECRET, 20000, &i, nullptr), 0);
        r.barrier();
    }
    ~Pair() { vmmc_close(v); }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    void open_export(uint64_t name, Guarded &at)
    {
        r.expect("vmmc_export",
                 vmmc_export(v, name, SECRET, VMMC_ANYBODY, at.data(), at.size(), VMMC_REDIRECTABLE,
                             nullptr, nullptr, &e),
                 0);
    }
    void send(size_t offset, size_t n)
    {
        r.expect("vmmc_send", vmmc_send(i, offset, memory.data() + offset, n, 0, 0), 0);
    }
    struct vmmc_stats stats() const
    {
        struct vmmc_stats stats;

        vmmc_stats(v, &stats);
        return stats;
    }
    // Without a poll, in which messages would be read.
    void await(uint32_t slot, uint64_t value)
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);

        while (r.shown(1 - r.me, slot) < value) {
            sched_yield();
            if (std::chrono::steady_clock::now() > deadline)
                throw Failure("time is up");
        }
    }
};

void run_pair(const std::function<void(Pair &)> &sender, const std::function<void(Pair &)> &owner,
              const Options &options = {})
{
    links::run_link(
        "windows", 2,
        [&](Rank &r) {
            Pair pair(r);

            (r.me == OWNER ? owner : sender)(pair);
            if (!options.may_die)
                r.barrier();
        },
        options);
}

void die(int)
{
    kill(getpid(), SIGKILL);
}

// A page that cannot be read follows `good` bytes at the result.
uint8_t *before_a_hole(size_t good)
{
    const size_t pages = (good + 4095) / 4096 * 4096;
    void *at =
        mmap(nullptr, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(at != MAP_FAILED);
    REQUIRE(mprotect(static_cast<uint8_t *>(at) + pages, 4096, PROT_NONE) == 0);
    return static_cast<uint8_t *>(at) + pages - good;
}

} // namespace

TEST_CASE("through windows bytes are where they belong without the owner's help")
{
    run_pair(
        [](Pair &p) {
            p.await(GO, 1);
            p.send(0, N);
            p.r.show(DONE, 1);
        },
        [](Pair &p) {
            Guarded to(N / 2);
            vmmc_redirected seen = {};

            p.r.expect("post", vmmc_redirect(p.e, 1000, to.data(), N / 2), 0);
            p.r.show(GO, 1);
            p.await(DONE, 1);
            p.r.expect("arrived", vmmc_arrived(p.e), N);
            p.r.expect("look", vmmc_redirect_look(p.e, &seen), 0);
            p.r.expect("placed so far", seen.placed, N / 2);
            p.r.expect("end", vmmc_redirect_end(p.e, &seen), 0);
            p.r.expect("placed", seen.placed, N / 2);
            p.r.expect("posted", to.wrong(7 + 1000), std::string());
            p.r.expect("before", pattern_wrong(p.memory.data(), 1000, 7), std::string());
            p.r.expect("redirected", p.stats().redirected_bytes, N / 2);
            p.r.expect("bytes", p.stats().arrived_bytes, N);
            p.r.expect("a message waits", vmmc_wait(p.v, 20000) > 0, true);
        });
}

TEST_CASE("what is copied does not overtake a message that its owner has not read")
{
    run_pair(
        [](Pair &p) {
            p.await(GO, 1); // from here on the owner reads nothing
            p.send(0, 8);   // a message
            p.send(8, 1000);
            p.r.show(DONE, 1);
            p.await(GO, 2);
            p.send(1008, N - 1008);
            p.r.show(DONE, 2);
        },
        [](Pair &p) {
            p.r.show(GO, 1);
            p.await(DONE, 1);
            p.r.expect("nothing has come", vmmc_arrived(p.e), 0u);
            p.r.expect("memory", p.memory.wrong(1), std::string());
            p.r.until("arrival", [&] { return vmmc_poll(p.v), vmmc_arrived(p.e) == 1008; });
            vmmc_poll(p.v);
            p.r.show(GO, 2);
            p.await(DONE, 2);
            p.r.expect("copied again", vmmc_arrived(p.e), N);
            p.r.expect("memory", p.memory.wrong(7), std::string());
        });
}

TEST_CASE("an import whose export has ended writes nothing through its window")
{
    run_pair(
        [](Pair &p) {
            p.await(GO, 1);
            p.send(0, N / 100); // the end of the export was not read
            p.r.show(DONE, 1);
        },
        [](Pair &p) {
            Guarded other(N);

            other.fill(3);
            vmmc_unexport(p.e);
            p.open_export(NAME + 1, other); // in the same slot
            p.r.show(GO, 1);
            p.r.until("the refusal", [&] { return vmmc_poll(p.v), p.stats().refused > 0; });
            p.await(DONE, 1);
            p.r.expect("arrived", vmmc_arrived(p.e), 0u);
            p.r.expect("the old one", p.memory.wrong(1), std::string());
            p.r.expect("the new one", other.wrong(3), std::string());
        });
}

TEST_CASE("nothing is written to posted memory once its owner has taken it back")
{
    run_pair(
        [](Pair &p) {
            for (uint64_t k = 1; p.r.shown(OWNER, GO) < 200; k++)
                p.send(0, N);
        },
        [](Pair &p) {
            Guarded to(N);
            vmmc_redirected seen = {};

            for (uint64_t round = 1; round <= 200; round++) {
                p.r.expect("post", vmmc_redirect(p.e, 0, to.data(), N), 0);
                for (int polls = 0; polls < 20; polls++)
                    vmmc_poll(p.v);
                p.r.expect("end", vmmc_redirect_end(p.e, &seen), 0);
                to.fill(round);
                vmmc_poll(p.v);
                p.r.expect("the owner's again", to.wrong(round), std::string());
                p.r.show(GO, round);
            }
        });
}

namespace {

// What the sender of the next test finds in the middle of a piece: a page that cannot be read until
// its owner has had time to take its memory back, or has done it.
struct Hole {
    static inline uint8_t *page;
    static inline Rank *r;

    static void wait(int)
    {
        r->show(DONE, 1);
        for (int k = 0; k < 5000 && r->shown(OWNER, GO) < 3; k++) {
            if (r->shown(OWNER, GO) < 2)
                k = 0;
            sched_yield();
        }
        mprotect(page, 4096, PROT_READ);
    }
};

} // namespace

TEST_CASE("an owner that takes its memory back waits for the piece that is being copied there")
{
    static constexpr size_t GOOD = 40960;

    run_pair(
        [](Pair &p) {
            uint8_t *from = before_a_hole(GOOD);

            std::memset(from, 0, GOOD);
            Hole::page = from + GOOD;
            Hole::r = &p.r;
            signal(SIGSEGV, Hole::wait);
            p.await(GO, 1);
            p.r.expect("send", vmmc_send(p.i, 0, from, GOOD + 4096, 0, 0), 0);
            p.r.show(DONE, 2);
        },
        [](Pair &p) {
            Guarded to(N);
            vmmc_redirected seen = {};

            p.r.expect("post", vmmc_redirect(p.e, 0, to.data(), N), 0);
            p.r.show(GO, 1);
            p.await(DONE, 1);
            p.r.show(GO, 2);
            p.r.expect("end", vmmc_redirect_end(p.e, &seen), 0);
            to.fill(5);
            p.r.show(GO, 3);
            p.await(DONE, 2);
            p.r.expect("placed", seen.placed, GOOD + 4096);
            p.r.expect("the owner's again", to.wrong(5), std::string());
        });
}

TEST_CASE("a sender that is killed while it copies does not keep what was posted")
{
    static constexpr size_t GOOD = 100000; // in the second piece of 64 KiB
    Options options;

    options.may_die = true;
    run_pair(
        [](Pair &p) {
            uint8_t *from = before_a_hole(GOOD);

            std::memcpy(from, p.memory.data(), GOOD);
            signal(SIGSEGV, die);
            p.await(GO, 1);
            vmmc_send(p.i, 0, from, N, 0, 0);
        },
        [](Pair &p) {
            Guarded to(N);
            vmmc_redirected seen = {};

            p.r.expect("post", vmmc_redirect(p.e, 0, to.data(), N), 0);
            p.r.show(GO, 1);
            p.r.until("death", [&] { return gam_is_dead(p.r.g, 0); });
            p.r.expect("end", vmmc_redirect_end(p.e, &seen), 0);
            p.r.expect("first", seen.first, 0u);
            p.r.expect("placed", seen.placed, size_t{65536});
            p.r.expect("arrived", vmmc_arrived(p.e), uint64_t{65536});
            p.r.expect("posted", pattern_wrong(to.data(), 65536, 7), std::string());
            p.r.expect("post again", vmmc_redirect(p.e, 0, to.data(), N), 0);
        },
        options);
}
