// SPDX-License-Identifier: BSD-3-Clause
//
// medium_test.cc - requests and replies that carry bytes.
#include "world.h"

#include <algorithm>
#include <sched.h>

using namespace world;

namespace {

enum { CHECK_IT = 1, ECHO = 2, ECHOED = 3, GROW = 4, GROWN = 5, HOLD = 6 };

const std::vector<size_t> SIZES = {
    0,
    1,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    39,
    40,
    41,
    47,
    48,
    49,
    63,
    64,
    65,
    1000,
    4064,
    4096,
    8000,
    GAM_MEDIUM_MAX - 1,
    GAM_MEDIUM_MAX,
};

// word[0] is the pattern's seed, word[1] the length that was sent.
void check_it(gam *, const gam_message *m)
{
    Rank &r = self();

    r.note("length", m->length, m->word[1]);
    r.note("words", m->words, 2);
    r.note("aligned to 8", reinterpret_cast<uintptr_t>(m->data) % 8, 0u);
    r.note("contents", pattern_wrong(m->data, m->length, m->word[0]), "");
    r.count[CHECK_IT]++;
}

void echo(gam *g, const gam_message *m)
{
    self().count[ECHO]++;
    self().note("reply", gam_reply_medium(g, ECHOED, m->data, m->length, m->words, m->word), 0);
}

void echoed(gam *, const gam_message *m)
{
    Rank &r = self();

    r.note("contents", pattern_wrong(m->data, m->length, m->word[0]), "");
    r.log.push_back(m->length);
    r.count[ECHOED]++;
}

// A small request answered by many bytes.
void grow(gam *g, const gam_message *m)
{
    uint8_t bytes[GAM_MEDIUM_MAX];

    for (size_t i = 0; i < m->word[1]; i++)
        bytes[i] = pattern(m->word[0], i);
    self().note("reply", gam_reply_medium(g, ECHOED, bytes, m->word[1], 1, m->word), 0);
    std::fill(bytes, bytes + sizeof(bytes), 0);
}

void use_all(Rank &r)
{
    r.handler(CHECK_IT, check_it);
    r.handler(ECHO, echo);
    r.handler(ECHOED, echoed);
    r.handler(GROW, grow);
    r.barrier();
}

void send(Rank &r, uint32_t dest, uint32_t handler, size_t n, uint64_t seed, size_t skew = 0)
{
    Guarded from(n, skew);
    const uint64_t word[] = {seed, n};

    from.fill(seed);
    r.expect("gam_request_medium", gam_request_medium(r.g, dest, handler, from.data(), n, 2, word),
             0);
    from.clear(); // it may be reused at once
}

} // namespace

TEST_CASE("medium requests of all sizes")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        for (size_t n : SIZES)
            send(r, r.right(), CHECK_IT, n, n);
        r.until("all", [&] { return r.count[CHECK_IT] == SIZES.size(); });
        r.expect("mediums", r.stats().mediums, SIZES.size());
    });
}

TEST_CASE("medium requests from misaligned addresses")
{
    const size_t skew = GENERATE(1u, 4u, 63u);

    run(EACH_BACKEND, 2, [=](Rank &r) {
        use_all(r);
        for (size_t n : SIZES)
            send(r, r.right(), CHECK_IT, n, n + 1, skew);
        r.until("all", [&] { return r.count[CHECK_IT] == SIZES.size(); });
    });
}

TEST_CASE("medium messages carry 0 to 4 words")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        const uint64_t word[] = {~0ull, 2, 0, 1ull << 63};
        const uint8_t bytes[100] = {};

        r.handler(9, [](gam *g, const gam_message *m) {
            self().note("reply", gam_reply_medium(g, 10, m->data, m->length, m->words, m->word), 0);
        });
        r.handler(10, [](gam *, const gam_message *m) {
            self().log.assign(m->word, m->word + m->words);
            self().count[0]++;
        });
        r.barrier();
        for (uint32_t words = 0; words <= 4; words++) {
            for (size_t n : {0, 16, 17, 100}) {
                const uint64_t before = r.count[0];

                r.expect("request", gam_request_medium(r.g, r.right(), 9, bytes, n, words, word),
                         0);
                r.until("reply", [&] { return r.count[0] == before + 1; });
                r.expect("words", r.log == std::vector<uint64_t>(word, word + words), true);
            }
        }
    });
}

TEST_CASE("medium requests are answered by medium replies of all sizes")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        for (size_t n : SIZES)
            send(r, r.right(), ECHO, n, n);
        r.until("all", [&] { return r.count[ECHOED] == SIZES.size(); });
        r.expect("in order, same lengths",
                 r.log == std::vector<uint64_t>(SIZES.begin(), SIZES.end()), true);
        r.until("the other's too", [&] { return r.count[ECHO] == SIZES.size(); });
        r.expect("mediums", r.stats().mediums, 2 * SIZES.size());
    });
}

TEST_CASE("medium messages to oneself")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        use_all(r);
        for (size_t n : SIZES)
            send(r, 0, ECHO, n, n);
        r.until("all", [&] { return r.count[ECHOED] == SIZES.size(); });
    });
}

TEST_CASE("a medium message that is too long is refused and sends nothing")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        static const uint8_t bytes[GAM_MEDIUM_MAX + 1] = {};

        use_all(r);
        r.handler(9, [](gam *g, const gam_message *) {
            self().note("reply", gam_reply_medium(g, ECHOED, bytes, sizeof(bytes), 0, nullptr),
                        -EMSGSIZE);
            self().count[0]++;
        });
        r.expect("request", gam_request_medium(r.g, 0, CHECK_IT, bytes, sizeof(bytes), 0, nullptr),
                 -EMSGSIZE);
        r.expect("mediums", r.stats().mediums, 0u);
        r.expect("request", gam_request_0(r.g, 0, 9), 0);
        r.until("handled", [&] { return r.count[0] == 1; });
        r.expect("no reply", r.count[ECHOED], 0u);
        r.expect("mediums", r.stats().mediums, 0u);
    });
}

TEST_CASE("medium requests beyond the window wait and arrive in order")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        for (uint64_t i = 0; i < 300; i++)
            send(r, r.right(), CHECK_IT, 5000, i);
        r.until("all", [&] { return r.count[CHECK_IT] == 300; });
        r.expect("handled", r.stats().handled, 300u);
    });
}

namespace {

// Where the messages of gam_request_mediums are put together.  Word 0 is the seed, word 1 the
// length of all.
struct Whole {
    std::vector<uint8_t> bytes;
    std::vector<size_t> lengths;
} thread_local whole;

void put_together(gam *, const gam_message *m)
{
    const auto *from = static_cast<const uint8_t *>(m->data);
    Rank &r = self();

    r.note("words", m->words, 2);
    whole.bytes.insert(whole.bytes.end(), from, from + m->length);
    whole.lengths.push_back(m->length);
    if (whole.bytes.size() < m->word[1])
        return;
    r.note("length of all", whole.bytes.size(), m->word[1]);
    r.note("contents of all", pattern_wrong(whole.bytes.data(), whole.bytes.size(), m->word[0]),
           "");
    for (size_t i = 1; i + 1 < whole.lengths.size(); i++)
        r.note("length of one", whole.lengths[i], whole.lengths[0]);
    r.note("messages", whole.lengths.size(),
           std::max<size_t>(1, (m->word[1] + GAM_MEDIUM_MAX - 1) / GAM_MEDIUM_MAX));
    whole = {};
    r.count[CHECK_IT]++;
}

} // namespace

TEST_CASE("mediums of any length come as few messages of equal length, in order")
{
    static const std::vector<size_t> lengths = {
        0, 1, GAM_MEDIUM_MAX, GAM_MEDIUM_MAX + 1, 40000, 4 * GAM_MEDIUM_MAX, 300001,
    };

    run(EACH_BACKEND, 2, [](Rank &r) {
        r.handler(CHECK_IT, put_together);
        r.barrier();
        for (size_t n : lengths) {
            Guarded from(n, n % 8);
            const uint64_t word[] = {n, n};

            from.fill(n);
            r.expect("gam_request_mediums",
                     gam_request_mediums(r.g, r.right(), CHECK_IT, from.data(), n, 2, word), 0);
            from.clear(); // it may be reused at once
        }
        r.until("all", [&] { return r.count[CHECK_IT] == lengths.size(); });
        r.expect("stores", r.stats().stores, 0u);
        r.expect("bytes of stores and gets", r.stats().bulk_bytes, 0u);
        r.expect("mediums", r.stats().mediums, r.stats().handled);
    });
}

TEST_CASE("mediums stay behind stores that were begun before, and requests behind them")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        std::vector<uint8_t> from(5 * GAM_MEDIUM_MAX), to(5 * GAM_MEDIUM_MAX);
        std::vector<uint64_t> expected(1, 1);
        const uint64_t second = 2;

        r.handler(20, [](gam *, const gam_message *m) { self().log.push_back(m->word[0]); });
        r.show(0, to.data());
        r.barrier();
        r.expect("gam_store_async",
                 gam_store_async(r.g, r.right(), from.data(), r.address(r.right(), 0), from.size(),
                                 20, 1, nullptr, nullptr),
                 0);
        r.expect("gam_request_mediums",
                 gam_request_mediums(r.g, r.right(), 20, from.data(), from.size(), 1, &second), 0);
        r.expect("gam_request_1", gam_request_1(r.g, r.right(), 20, 3), 0);
        expected.insert(expected.end(), 5, 2);
        expected.push_back(3);
        r.until("all", [&] { return r.log.size() == expected.size(); });
        r.expect("order", r.log == expected, true);
    });
}

TEST_CASE("mediums that are not allowed are refused, however long")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        const std::vector<uint8_t> from(3 * GAM_MEDIUM_MAX);
        const uint64_t word[GAM_WORDS_MAX + 1] = {0};

        r.barrier();
        for (size_t n : {size_t{100}, from.size()}) {
            r.expect("dest", gam_request_mediums(r.g, 1, CHECK_IT, from.data(), n, 0, nullptr),
                     -EINVAL);
            r.expect("handler", gam_request_mediums(r.g, 0, 0, from.data(), n, 0, nullptr),
                     -EINVAL);
            r.expect("words",
                     gam_request_mediums(r.g, 0, CHECK_IT, from.data(), n, GAM_WORDS_MAX + 1, word),
                     -EINVAL);
        }
        r.expect("NULL", gam_request_mediums(r.g, 0, CHECK_IT, nullptr, from.size(), 0, nullptr),
                 -EINVAL);
        r.expect("mediums", r.stats().mediums, 0u);
    });
}

TEST_CASE("a window of small requests can be answered by as many medium replies")
{
    // More replies than bulk credits: some are put aside, none is lost or late in order.
    const uint32_t window = GENERATE(0u, 255u);

    run(EACH_BACKEND, 3,
        [](Rank &r) {
            constexpr uint64_t N = 400;

            use_all(r);
            for (uint64_t i = 0; i < N; i++)
                r.expect("request",
                         gam_request_2(r.g, r.right(), GROW, i, (i * 37) % (GAM_MEDIUM_MAX + 1)),
                         0);
            r.until("all", [&] { return r.count[ECHOED] == N; });
            for (uint64_t i = 0; i < N; i++)
                r.expect("length", r.log[i], (i * 37) % (GAM_MEDIUM_MAX + 1));
        },
        {.window = window});
}

TEST_CASE("small replies stay behind the medium replies that were put aside")
{
    run(EACH_BACKEND, 2,
        [](Rank &r) {
            constexpr uint64_t N = 600;

            // Every third answer is medium; all bring their number.
            r.handler(20, [](gam *g, const gam_message *m) {
                static const uint8_t bytes[4000] = {};
                int rc = m->word[0] % 3 == 0
                             ? gam_reply_medium(g, 21, bytes, sizeof(bytes), 1, m->word)
                             : gam_reply_1(g, 21, m->word[0]);

                self().note("reply", rc, 0);
            });
            r.handler(21, [](gam *, const gam_message *m) { self().log.push_back(m->word[0]); });
            r.barrier();
            for (uint64_t i = 0; i < N; i++)
                r.expect("request", gam_request_1(r.g, r.right(), 20, i), 0);
            r.until("all", [&] { return r.log.size() == N; });
            for (uint64_t i = 0; i < N; i++)
                r.expect("in order", r.log[i], i);
        },
        {.window = 100});
}

TEST_CASE("a medium's bytes stay as they are until the handler returns")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        r.handler(HOLD, [](gam *g, const gam_message *m) {
            // Replying and (vainly) polling must not recycle the buffer.
            self().note("reply", gam_reply_medium(g, ECHOED, m->data, m->length, 1, m->word), 0);
            for (int i = 0; i < 100; i++)
                gam_poll(g);
            self().note("contents", pattern_wrong(m->data, m->length, m->word[0]), "");
        });
        r.barrier();
        for (uint64_t i = 0; i < 100; i++)
            send(r, r.right(), HOLD, 6000, i);
        r.until("all", [&] { return r.count[ECHOED] == 100; });
    });
}

TEST_CASE("a request stays behind the replies that were put aside")
{
    // A rank that does not poll does not send again either.
    run(EACH_RELIABLE_BACKEND, 2, [](Rank &r) {
        constexpr uint64_t N = 32; // a window of requests, four times the bulk window
        enum { SENT, READY };
        auto spin = [&](uint32_t slot) {
            while (r.shown(1 - r.me, slot) == 0)
                sched_yield(); // and do not poll
        };

        use_all(r);
        r.handler(20, [](gam *, const gam_message *) { self().log.push_back(~0ull); });
        r.handler(21, [](gam *g, const gam_message *m) {
            static const uint8_t bytes[GAM_MEDIUM_MAX] = {};

            self().count[0]++;
            self().note("reply", gam_reply_medium(g, 22, bytes, sizeof(bytes), 1, m->word), 0);
        });
        r.handler(22, [](gam *, const gam_message *m) { self().log.push_back(m->word[0]); });
        r.barrier();
        if (r.me == 0) {
            spin(SENT);
            r.until("requests", [&] { return r.count[0] == N; });
            r.show(READY, 1);
            r.expect("request", gam_request_0(r.g, 1, 20), 0);
            r.expect("medium", gam_request_medium(r.g, 1, 20, "", 0, 0, nullptr), 0);
            return;
        }
        for (uint64_t i = 0; i < N; i++)
            r.expect("request", gam_request_1(r.g, 0, 21, i), 0);
        r.show(SENT, 1);
        spin(READY);
        r.until("all", [&] { return r.log.size() == N + 2; });
        for (uint64_t i = 0; i < N; i++)
            r.expect("reply", r.log[i], i);
        r.expect("request", r.log[N], ~0ull);
    });
}
