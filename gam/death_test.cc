// SPDX-License-Identifier: BSD-3-Clause
//
// death_test.cc - a dead peer is an error that comes soon, never a hang.
#include "world.h"

#include <chrono>
#include <csignal>
#include <unistd.h>

using namespace world;

namespace {

enum { COUNT = 1, ANSWER = 2, ANSWERED = 3 };

constexpr size_t BIG = 8u << 20;
const Options MAY_DIE = {.may_die = true};

void count(gam *, const gam_message *)
{
    self().count[COUNT]++;
}

void answer(gam *g, const gam_message *m)
{
    self().count[ANSWER]++;
    gam_reply(g, ANSWERED, m->words, m->word); // the requester may be dead
}

void answered(gam *, const gam_message *)
{
    self().count[ANSWERED]++;
}

void use_all(Rank &r)
{
    r.handler(COUNT, count);
    r.handler(ANSWER, answer);
    r.handler(ANSWERED, answered);
    r.barrier();
}

// A process is killed, of these; a thread, and a process on a network that needs its peers' silence
// to know, leaves and closes its endpoint.
bool is_killed(const std::string &backend)
{
    return backend == "shm" || backend == "ofi" || backend == "atm";
}

void die(const std::string &backend)
{
    if (is_killed(backend))
        kill(getpid(), SIGKILL);
}

// What it had not sent, or what was lost and it would have to send again, ends with it.
bool loses_what_was_sent(const std::string &backend)
{
    return is_killed(backend) && backend != "shm";
}

// Runs `survive` on rank 0 while the last rank dies after `before`, and checks that
// it was done within seconds.
void with_death(const std::string &backend, const Body &before, const Body &survive,
                uint32_t ranks = 2)
{
    run(
        backend, ranks,
        [&](Rank &r) {
            use_all(r);
            if (r.me == ranks - 1) {
                before(r);
                die(backend);
                return;
            }
            const auto start = std::chrono::steady_clock::now();

            survive(r);
            const auto took = std::chrono::steady_clock::now() - start;
            r.expect("done within 10 seconds", took < std::chrono::seconds(10), true);
        },
        MAY_DIE);
}

void at_once(Rank &)
{
}

void expect_dead(Rank &r, int64_t who)
{
    r.expect("gam_dead_peer", gam_dead_peer(r.g), who);
}

} // namespace

TEST_CASE("requests to a dead peer are EPIPE")
{
    with_death(EACH_BACKEND, at_once, [](Rank &r) {
        int rc = 0;

        while (rc == 0)
            rc = gam_request_0(r.g, 1, COUNT);
        r.expect("gam_request", rc, -EPIPE);
        expect_dead(r, 1);
    });
}

TEST_CASE("medium requests to a dead peer are EPIPE")
{
    with_death(EACH_BACKEND, at_once, [](Rank &r) {
        std::vector<uint8_t> bytes(GAM_MEDIUM_MAX);
        int rc = 0;

        while (rc == 0)
            rc = gam_request_medium(r.g, 1, COUNT, bytes.data(), bytes.size(), 0, nullptr);
        r.expect("gam_request_medium", rc, -EPIPE);
        expect_dead(r, 1);
    });
}

TEST_CASE("mediums to a peer that dies meanwhile are EPIPE")
{
    with_death(
        EACH_BACKEND,
        [](Rank &r) {
            r.show(1, 1);
            for (int messages = 0; messages <= 50;)
                messages += gam_poll(r.g);
        },
        [](Rank &r) {
            std::vector<uint8_t> from(BIG);

            r.until("the target", [&] { return r.shown(1, 1) == 1; });
            r.expect("gam_request_mediums",
                     gam_request_mediums(r.g, 1, COUNT, from.data(), BIG, 0, nullptr), -EPIPE);
            expect_dead(r, 1);
        });
}

TEST_CASE("a store to a peer that dies meanwhile is EPIPE")
{
    std::vector<uint8_t> to(BIG); // pieces arrive until the endpoint has been closed

    with_death(
        EACH_BACKEND,
        [&to](Rank &r) {
            r.show(0, to.data());
            r.show(1, 1);
            // A poll handles at most 256 of the store's thousand pieces.
            for (int pieces = 0; pieces <= 50;)
                pieces += gam_poll(r.g);
        },
        [](Rank &r) {
            std::vector<uint8_t> from(BIG);

            r.until("the target", [&] { return r.shown(1, 1) == 1; });
            r.expect("gam_store", gam_store(r.g, 1, from.data(), r.address(1, 0), BIG, 0, 0),
                     -EPIPE);
            expect_dead(r, 1);
        });
}

TEST_CASE("asynchronous stores to a dead peer end")
{
    with_death(EACH_BACKEND, at_once, [](Rank &r) {
        std::vector<uint8_t> from(BIG);
        uint64_t done = 0;
        auto tell = [](void *p) { ++*static_cast<uint64_t *>(p); };
        int rc = 0;
        uint64_t started = 0;

        for (int i = 0; i < 3 && rc == 0; i++) {
            rc = gam_store_async(r.g, 1, from.data(), from.data(), BIG, 0, 0, tell, &done);
            started += rc == 0;
        }
        r.expect("started or EPIPE", rc == 0 || rc == -EPIPE, true);
        r.until("all ended", [&] { return gam_pending(r.g) == 0; });
        r.expect("each told once", done, started);
        r.until("death", [&] { return gam_dead_peer(r.g) == 1; });
        r.expect("another",
                 gam_store_async(r.g, 1, from.data(), from.data(), BIG, 0, 0, tell, &done), -EPIPE);
        r.expect("not told", done, started);
    });
}

TEST_CASE("every call to a peer that is known to be dead is EPIPE at once")
{
    with_death(EACH_BACKEND, at_once, [](Rank &r) {
        uint8_t b[100] = {};

        r.until("death", [&] { return gam_dead_peer(r.g) == 1; });
        r.expect("request", gam_request_0(r.g, 1, COUNT), -EPIPE);
        r.expect("request of four", gam_request_4(r.g, 1, COUNT, 0, 0, 0, 0), -EPIPE);
        r.expect("medium, inline", gam_request_medium(r.g, 1, COUNT, b, 1, 0, nullptr), -EPIPE);
        r.expect("medium", gam_request_medium(r.g, 1, COUNT, b, 100, 0, nullptr), -EPIPE);
        r.expect("store", gam_store(r.g, 1, b, b, 100, 0, 0), -EPIPE);
        r.expect("store of nothing", gam_store(r.g, 1, b, b, 0, COUNT, 0), -EPIPE);
        r.expect("async", gam_store_async(r.g, 1, b, b, 100, 0, 0, nullptr, nullptr), -EPIPE);
        r.expect("get", gam_get(r.g, 1, b, b, 100, 0, 0), -EPIPE);
        r.expect("wait", gam_wait(r.g, -1), -EPIPE);
        r.expect("pending", gam_pending(r.g), 0u);
    });
}

TEST_CASE("gam_wait without a limit ends when a peer dies")
{
    with_death(EACH_BACKEND, at_once, [](Rank &r) {
        int rc;

        do
            rc = gam_wait(r.g, -1);
        while (rc > 0);
        r.expect("gam_wait", rc, -EPIPE);
        expect_dead(r, 1);
    });
}

TEST_CASE("a get from a peer that dies stays pending, and waiting for it is EPIPE")
{
    with_death(EACH_BACKEND, at_once, [](Rank &r) {
        static uint8_t from[8]; // at the same address there
        uint8_t to[8] = {};
        int rc;

        do { // it may still answer while it leaves the barrier
            rc = gam_get(r.g, 1, from, to, sizeof(to), 0, 0);
            while (rc >= 0 && gam_pending(r.g) > 0)
                rc = gam_wait(r.g, -1);
        } while (rc >= 0);
        r.expect("EPIPE", rc, -EPIPE);
    });
}

TEST_CASE("polling alone finds the dead")
{
    with_death(EACH_BACKEND, at_once,
               [](Rank &r) { r.until("death", [&] { return gam_dead_peer(r.g) == 1; }); });
}

TEST_CASE("what a peer sent before it died is still handled")
{
    const std::string backend = EACH_BACKEND;

    if (loses_what_was_sent(backend))
        return;
    with_death(
        backend,
        [](Rank &r) {
            for (int i = 0; i < 20; i++)
                r.expect("request", gam_request_0(r.g, 0, COUNT), 0);
        },
        [](Rank &r) {
            r.until("death", [&] { return gam_dead_peer(r.g) == 1; });
            r.until("requests", [&] { return r.count[COUNT] == 20; });
        });
}

TEST_CASE("requests of a peer that died are answered into the void")
{
    const std::string backend = EACH_BACKEND;

    if (loses_what_was_sent(backend))
        return;
    with_death(
        backend,
        [](Rank &r) {
            for (int i = 0; i < 20; i++)
                r.expect("request", gam_request_0(r.g, 0, ANSWER), 0);
        },
        [](Rank &r) {
            r.until("requests", [&] { return r.count[ANSWER] == 20; });
            r.until("death", [&] { return gam_dead_peer(r.g) == 1; });
        });
}

TEST_CASE("the others go on talking after a death")
{
    with_death(
        EACH_BACKEND, at_once,
        [](Rank &r) {
            const uint32_t other = 1 - r.me;

            r.until("death", [&] { return gam_dead_peer(r.g) == 2; });
            for (int i = 0; i < 500; i++)
                r.expect("request", gam_request_0(r.g, other, ANSWER), 0);
            r.until("answers", [&] { return r.count[ANSWERED] == 500 && r.count[ANSWER] == 500; });
            r.show(0, 1);
            r.until("the other", [&] { return r.shown(other, 0) == 1; });
        },
        3);
}
