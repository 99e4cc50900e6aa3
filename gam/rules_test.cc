// SPDX-License-Identifier: BSD-3-Clause
//
// rules_test.cc - the request/reply rule, and calls with arguments out of range.
#include "world.h"

using namespace world;

namespace {

enum { PROBE = 1, DONE = 2, NOTHING = 3 };

// What every call that sends or waits returns when made from here.
void try_everything(gam *g)
{
    Rank &r = self();
    uint8_t bytes[8] = {};
    const uint64_t word[4] = {};

    r.note("gam_request", gam_request(g, 0, DONE, 0, word), -EPERM);
    r.note("gam_request_0", gam_request_0(g, 0, DONE), -EPERM);
    r.note("gam_request_1", gam_request_1(g, 0, DONE, 0), -EPERM);
    r.note("gam_request_2", gam_request_2(g, 0, DONE, 0, 0), -EPERM);
    r.note("gam_request_3", gam_request_3(g, 0, DONE, 0, 0, 0), -EPERM);
    r.note("gam_request_4", gam_request_4(g, 0, DONE, 0, 0, 0, 0), -EPERM);
    r.note("gam_request_medium", gam_request_medium(g, 0, DONE, bytes, 8, 0, word), -EPERM);
    r.note("gam_store", gam_store(g, 0, bytes, bytes, 8, 0, 0), -EPERM);
    r.note("gam_store_async", gam_store_async(g, 0, bytes, bytes, 8, 0, 0, nullptr, nullptr),
           -EPERM);
    r.note("gam_get", gam_get(g, 0, bytes, bytes, 8, 0, 0), -EPERM);
    r.note("gam_poll", gam_poll(g), 0);
    r.note("gam_wait", gam_wait(g, -1), 0);
}

constexpr uint64_t MISUSES = 10; // of try_everything

void try_replies(gam *g)
{
    Rank &r = self();
    uint8_t bytes[8] = {};
    const uint64_t word[4] = {};

    r.note("gam_reply", gam_reply(g, DONE, 0, word), -EPERM);
    r.note("gam_reply_0", gam_reply_0(g, DONE), -EPERM);
    r.note("gam_reply_1", gam_reply_1(g, DONE, 0), -EPERM);
    r.note("gam_reply_2", gam_reply_2(g, DONE, 0, 0), -EPERM);
    r.note("gam_reply_3", gam_reply_3(g, DONE, 0, 0, 0), -EPERM);
    r.note("gam_reply_4", gam_reply_4(g, DONE, 0, 0, 0, 0), -EPERM);
    r.note("gam_reply_medium", gam_reply_medium(g, DONE, bytes, 8, 0, word), -EPERM);
}

constexpr uint64_t REPLY_MISUSES = 7; // of try_replies

void count_done(gam *, const gam_message *)
{
    self().count[DONE]++;
}

void no_op(gam *, const gam_message *)
{
}

// One rank that sends to itself: `probe` runs as a request's handler.
void run_probe(gam_handler_fn *probe, uint64_t replies, uint64_t misuses)
{
    run(EACH_BACKEND, 1, [=](Rank &r) {
        r.handler(PROBE, probe);
        r.handler(DONE, count_done);
        r.handler(NOTHING, no_op);
        r.expect("request", gam_request_0(r.g, 0, PROBE), 0);
        r.until("probe", [&] { return r.count[PROBE] == 1 && r.count[DONE] == replies; });
        r.expect("misuse", r.stats().misuse, misuses);
        // The connection goes on.
        r.expect("request", gam_request_0(r.g, 0, DONE), 0);
        r.until("request", [&] { return r.count[DONE] == replies + 1; });
    });
}

} // namespace

TEST_CASE("a request's handler may not send or wait")
{
    run_probe(
        [](gam *g, const gam_message *) {
            try_everything(g);
            self().count[PROBE]++;
        },
        0, MISUSES);
}

TEST_CASE("a request's handler may reply once, by either kind of reply")
{
    run_probe(
        [](gam *g, const gam_message *) {
            self().note("first", gam_reply_0(g, DONE), 0);
            try_replies(g);
            self().count[PROBE]++;
        },
        1, REPLY_MISUSES);
    run_probe(
        [](gam *g, const gam_message *) {
            self().note("first", gam_reply_medium(g, DONE, "x", 1, 0, nullptr), 0);
            try_replies(g);
            self().count[PROBE]++;
        },
        1, REPLY_MISUSES);
}

TEST_CASE("a reply's handler sends nothing")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        r.handler(PROBE, [](gam *g, const gam_message *) { gam_reply_0(g, DONE); });
        r.handler(DONE, [](gam *g, const gam_message *) {
            try_everything(g);
            try_replies(g);
            self().count[DONE]++;
        });
        r.expect("request", gam_request_0(r.g, 0, PROBE), 0);
        r.until("reply", [&] { return r.count[DONE] == 1; });
        r.expect("misuse", r.stats().misuse, MISUSES + REPLY_MISUSES);
    });
}

TEST_CASE("a medium reply's and a get's handler send nothing")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        uint8_t from[100] = {}, to[100];

        r.handler(PROBE, [](gam *g, const gam_message *m) {
            gam_reply_medium(g, DONE, m->data, m->length, 0, nullptr);
        });
        r.handler(DONE, [](gam *g, const gam_message *) {
            try_everything(g);
            try_replies(g);
            self().count[DONE]++;
        });
        r.expect("medium", gam_request_medium(r.g, 0, PROBE, from, 100, 0, nullptr), 0);
        r.until("reply", [&] { return r.count[DONE] == 1; });
        r.expect("get", gam_get(r.g, 0, from, to, 100, DONE, 0), 0);
        r.until("get", [&] { return r.count[DONE] == 2; });
        r.expect("misuse", r.stats().misuse, 2 * (MISUSES + REPLY_MISUSES));
    });
}

TEST_CASE("the end of an asynchronous store sends nothing")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        uint8_t from[100] = {};
        static uint8_t to[100]; /* `done` does not say that the bytes have arrived there */
        auto done = [](void *g) {
            try_everything(static_cast<gam *>(g));
            try_replies(static_cast<gam *>(g));
            self().count[DONE]++;
        };

        r.expect("store", gam_store_async(r.g, 0, from, to, 100, 0, 0, done, r.g), 0);
        r.until("done", [&] { return r.count[DONE] == 1; });
        r.expect("misuse", r.stats().misuse, MISUSES + REPLY_MISUSES);
    });
}

TEST_CASE("replies outside handlers are refused")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        r.handler(DONE, no_op);
        try_replies(r.g);
        r.expect("misuse", r.stats().misuse, REPLY_MISUSES);
        r.expect("replies", r.stats().replies, 0u);
    });
}

TEST_CASE("a refused reply leaves the right to reply")
{
    run_probe(
        [](gam *g, const gam_message *) {
            const uint64_t word[5] = {};

            self().note("no handler", gam_reply_0(g, 0), -EINVAL);
            self().note("beyond the table", gam_reply_0(g, GAM_HANDLERS), -EINVAL);
            self().note("too many words", gam_reply(g, DONE, 5, word), -EINVAL);
            self().note("medium, no handler", gam_reply_medium(g, 0, "", 0, 0, word), -EINVAL);
            self().note("medium, words", gam_reply_medium(g, DONE, "", 0, 5, word), -EINVAL);
            self().note("right", gam_reply(g, DONE, 4, word), 0);
            self().count[PROBE]++;
        },
        1, 0);
}

TEST_CASE("requests with arguments out of range are refused")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        const uint64_t word[5] = {};
        const uint32_t big = GAM_HANDLERS;

        r.expect("dest", gam_request_0(r.g, 2, 1), -EINVAL);
        r.expect("dest", gam_request_1(r.g, UINT32_MAX, 1, 0), -EINVAL);
        r.expect("handler 0", gam_request_0(r.g, 0, 0), -EINVAL);
        r.expect("handler 256", gam_request_4(r.g, 0, big, 0, 0, 0, 0), -EINVAL);
        r.expect("words", gam_request(r.g, 0, 1, 5, word), -EINVAL);
        r.expect("medium dest", gam_request_medium(r.g, 2, 1, word, 8, 0, word), -EINVAL);
        r.expect("medium handler", gam_request_medium(r.g, 0, 0, word, 8, 0, word), -EINVAL);
        r.expect("medium words", gam_request_medium(r.g, 0, 1, word, 8, 5, word), -EINVAL);
        r.expect("requests", r.stats().requests + r.stats().mediums, 0u);
        r.expect("misuse", r.stats().misuse, 0u);
    });
}

TEST_CASE("transfers with arguments out of range are refused")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        uint8_t b[8] = {};
        void *top = reinterpret_cast<void *>(UINTPTR_MAX - 3);
        auto store = [&](uint32_t dest, const void *lva, void *rva, size_t n, uint32_t handler) {
            const int rc = gam_store(r.g, dest, lva, rva, n, handler, 0);

            r.expect("as gam_store",
                     gam_store_async(r.g, dest, lva, rva, n, handler, 0, nullptr, nullptr), rc);
            return rc;
        };

        r.expect("dest", store(2, b, b, 8, 0), -EINVAL);
        r.expect("handler", store(0, b, b, 8, GAM_HANDLERS), -EINVAL);
        r.expect("no source", store(0, nullptr, b, 8, 0), -EINVAL);
        r.expect("no target", store(0, b, nullptr, 8, 0), -EINVAL);
        r.expect("source wraps", store(0, top, b, 8, 0), -EINVAL);
        r.expect("target wraps", store(0, b, top, 8, 0), -EINVAL);
        r.expect("get dest", gam_get(r.g, 2, b, b, 8, 0, 0), -EINVAL);
        r.expect("get handler", gam_get(r.g, 0, b, b, 8, GAM_HANDLERS, 0), -EINVAL);
        r.expect("get source", gam_get(r.g, 0, nullptr, b, 8, 0, 0), -EINVAL);
        r.expect("get target", gam_get(r.g, 0, b, nullptr, 8, 0, 0), -EINVAL);
        r.expect("get wraps", gam_get(r.g, 0, b, b, SIZE_MAX, 0, 0), -EINVAL);
        r.expect("started", r.stats().stores + r.stats().gets, 0u);
        r.expect("pending", gam_pending(r.g), 0u);
    });
}
