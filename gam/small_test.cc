// SPDX-License-Identifier: BSD-3-Clause
//
// small_test.cc - small requests and replies, and their window.
#include "world.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/time.h>

#include <ctime>

using namespace world;

namespace {

enum { COUNT = 1, ECHO = 2, ECHOED = 3, LOG = 4 };

uint64_t word_of(uint32_t rank, uint32_t i)
{
    return 0xfedcba9876543210u + rank * 1000u + i;
}

void count(gam *, const gam_message *)
{
    self().count[COUNT]++;
}

// Sends back what came, one word more each time but at most four.
void echo(gam *g, const gam_message *m)
{
    self().count[ECHO]++;
    self().note("gam_reply", gam_reply(g, ECHOED, m->words, m->word), 0);
}

void echoed(gam *, const gam_message *m)
{
    self().count[ECHOED]++;
    self().log.assign(m->word, m->word + m->words);
}

void log_word(gam *, const gam_message *m)
{
    self().log.push_back(m->word[0]);
}

void use_all(Rank &r)
{
    r.handler(COUNT, count);
    r.handler(ECHO, echo);
    r.handler(ECHOED, echoed);
    r.handler(LOG, log_word);
    r.barrier();
}

// Check what a request brought.
void check_words(gam *, const gam_message *m)
{
    Rank &r = self();

    r.note("source", m->source, r.left());
    r.note("handler", m->handler, 10 + m->words);
    r.note("data", m->data, static_cast<void *>(nullptr));
    r.note("length", m->length, 0u);
    for (uint32_t i = 0; i < m->words; i++)
        r.note("word", m->word[i], word_of(m->source, i));
    r.count[0]++;
}

int request_n(Rank &r, uint32_t n)
{
    const uint32_t to = r.right();
    auto w = [&](uint32_t i) { return word_of(r.me, i); };

    switch (n) {
    case 0:
        return gam_request_0(r.g, to, 10);
    case 1:
        return gam_request_1(r.g, to, 11, w(0));
    case 2:
        return gam_request_2(r.g, to, 12, w(0), w(1));
    case 3:
        return gam_request_3(r.g, to, 13, w(0), w(1), w(2));
    default:
        return gam_request_4(r.g, to, 14, w(0), w(1), w(2), w(3));
    }
}

void reply_n(gam *g, const gam_message *m)
{
    auto w = [&](uint32_t i) { return m->word[0] + i; };
    int rc = -1;

    switch (m->word[1]) {
    case 0:
        rc = gam_reply_0(g, ECHOED);
        break;
    case 1:
        rc = gam_reply_1(g, ECHOED, w(0));
        break;
    case 2:
        rc = gam_reply_2(g, ECHOED, w(0), w(1));
        break;
    case 3:
        rc = gam_reply_3(g, ECHOED, w(0), w(1), w(2));
        break;
    case 4:
        rc = gam_reply_4(g, ECHOED, w(0), w(1), w(2), w(3));
        break;
    }
    self().note("gam_reply_n", rc, 0);
}

} // namespace

TEST_CASE("requests bring their words, in the form for each count")
{
    run(EACH_BACKEND, 3, [](Rank &r) {
        for (uint32_t n = 0; n <= 4; n++)
            r.handler(10 + n, check_words);
        r.barrier();
        for (uint32_t n = 0; n <= 4; n++)
            r.expect("request", request_n(r, n), 0);
        r.until("five requests", [&] { return r.count[0] == 5; });
    });
}

TEST_CASE("requests bring their words, in the general form")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        uint64_t word[4];

        for (uint32_t n = 0; n <= 4; n++)
            r.handler(10 + n, check_words);
        r.barrier();
        for (uint32_t i = 0; i < 4; i++)
            word[i] = word_of(r.me, i);
        for (uint32_t n = 0; n <= 4; n++)
            r.expect("request", gam_request(r.g, r.right(), 10 + n, n, word), 0);
        r.until("five requests", [&] { return r.count[0] == 5; });
    });
}

TEST_CASE("replies bring their words, in the form for each count")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        r.handler(20, reply_n);
        r.barrier();
        for (uint64_t n = 0; n <= 4; n++) {
            r.expect("request", gam_request_2(r.g, r.right(), 20, ~0ull - 4, n), 0);
            r.until("reply", [&] { return r.count[ECHOED] == n + 1; });
            r.expect("words", r.log.size(), n);
            for (uint64_t i = 0; i < n; i++)
                r.expect("word", r.log[i], ~0ull - 4 + i);
        }
    });
}

TEST_CASE("replies bring their words, in the general form")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        const uint64_t word[] = {0, ~0ull, 1, 1ull << 63};

        use_all(r);
        for (uint32_t n = 0; n <= 4; n++) {
            r.expect("request", gam_request(r.g, r.right(), ECHO, n, word), 0);
            r.until("reply", [&] { return r.count[ECHOED] == n + 1; });
            r.expect("same words", r.log == std::vector<uint64_t>(word, word + n), true);
        }
    });
}

TEST_CASE("a rank can send to itself")
{
    run(EACH_BACKEND, GENERATE(1u, 2u), [](Rank &r) {
        use_all(r);
        for (uint64_t i = 0; i < 200; i++)
            r.expect("request", gam_request_1(r.g, r.me, ECHO, i), 0);
        r.until("replies", [&] { return r.count[ECHOED] == 200; });
        r.expect("last", r.log.at(0), 199u);
    });
}

TEST_CASE("every index of the table reaches its own handler")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        auto note = [](gam *, const gam_message *m) {
            self().note("index", m->handler, m->word[0]);
            self().count[0]++;
        };

        for (uint32_t i = 1; i < GAM_HANDLERS; i++)
            r.handler(i, note);
        r.barrier();
        for (uint32_t i = 1; i < GAM_HANDLERS; i++)
            r.expect("request", gam_request_1(r.g, r.right(), i, i), 0);
        r.until("all", [&] { return r.count[0] == GAM_HANDLERS - 1; });
    });
}

// So many that a window of that size (0: the default) is filled again and again.  Small ones take
// a switch of processes for each few.
static uint64_t many(uint32_t window)
{
    return window == 0 || window > 16 ? 2000 : 100 * window;
}

TEST_CASE("many windows of requests without replies arrive in order")
{
    const uint32_t window = GENERATE(0u, 1u, 2u, 3u, 33u, 255u);
    const uint64_t all = many(window);

    run(EACH_BACKEND, 2,
        [all](Rank &r) {
            use_all(r);
            for (uint64_t i = 0; i < all; i++)
                r.expect("request", gam_request_1(r.g, r.right(), LOG, i), 0);
            r.until("all", [&] { return r.log.size() == all; });
            for (uint64_t i = 0; i < all; i++)
                r.expect("in order", r.log[i], i);
        },
        {.window = window});
}

TEST_CASE("many windows of requests with replies")
{
    const uint32_t window = GENERATE(0u, 1u, 2u, 255u);
    const uint64_t all = many(window);

    run(EACH_BACKEND, 2,
        [all](Rank &r) {
            use_all(r);
            for (uint64_t i = 0; i < all; i++)
                r.expect("request", gam_request_1(r.g, r.right(), ECHO, i), 0);
            r.until("all", [&] { return r.count[ECHOED] == all && r.count[ECHO] == all; });
            r.expect("last reply", r.log.at(0), all - 1);
        },
        {.window = window});
}

TEST_CASE("replies acknowledge: no explicit ack where every request is answered")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        if (r.me == 0)
            for (uint64_t i = 0; i < 500; i++)
                r.expect("request", gam_request_1(r.g, 1, ECHO, i), 0);
        r.until("all", [&] { return r.count[r.me == 0 ? ECHOED : ECHO] == 500; });
        r.barrier();
        r.expect("acks", r.stats().acks, 0u);
    });
}

TEST_CASE("what is not answered is acknowledged, at the latest every window")
{
    run(EACH_BACKEND, 2,
        [](Rank &r) {
            use_all(r);
            if (r.me == 0) {
                for (uint64_t i = 0; i < 3200; i++)
                    r.expect("request", gam_request_0(r.g, 1, COUNT), 0);
            }
            r.barrier(); // rank 1 polls here
            r.until("all", [&] { return r.me == 0 || r.count[COUNT] == 3200; });
            if (r.me == 1)
                r.expect("one ack per window or more", r.stats().acks >= 3200 / 64 - 1, true);
        },
        {.window = 64});
}

TEST_CASE("acks ride on requests that flow the other way")
{
    run(EACH_BACKEND, 2,
        [](Rank &r) {
            use_all(r);
            // In turns: each request of one rank carries the credit of the other's last.
            for (uint64_t i = 0; i < 300; i++) {
                if (r.me == 1)
                    r.until("ping", [&] { return r.count[COUNT] == i + 1; });
                r.expect("request", gam_request_0(r.g, r.right(), COUNT), 0);
                if (r.me == 0)
                    r.until("pong", [&] { return r.count[COUNT] == i + 1; });
            }
            r.barrier();
            // Only the first ping can find rank 1 polling for something else.
            if (r.me == 1)
                r.expect("hardly any ack", r.stats().acks <= 2, true);
        },
        {.window = 64});
}

TEST_CASE("a poll tells how many messages it handled")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        use_all(r);
        while (gam_poll(r.g) > 0)
            ;
        r.expect("nothing", gam_poll(r.g), 0);
        for (int i = 0; i < 3; i++)
            r.expect("request", gam_request_0(r.g, 0, COUNT), 0);
        r.until("three", [&] { return r.count[COUNT] == 3; });
        r.expect("handled", r.stats().handled, 3u);
        r.expect("empty polls are counted", r.stats().empty_polls > 0, true);
        r.expect("polls are counted", r.stats().polls > r.stats().empty_polls, true);
    });
}

TEST_CASE("polled endpoints serve as well")
{
    run(EACH_BACKEND, 2,
        [](Rank &r) {
            use_all(r);
            for (uint64_t i = 0; i < 500; i++)
                r.expect("request", gam_request_1(r.g, r.right(), ECHO, i), 0);
            while (r.count[ECHOED] < 500)
                r.expect("gam_wait", gam_wait(r.g, 1000) >= 0, true);
        },
        {.polled = true});
}

TEST_CASE("statistics of small messages add up")
{
    run(EACH_BACKEND, 4, [](Rank &r) {
        use_all(r);
        for (uint32_t to = 0; to < r.ranks; to++)
            for (int i = 0; i < 100; i++) {
                r.expect("request", gam_request_1(r.g, to, ECHO, 1), 0);
                r.expect("request", gam_request_0(r.g, to, COUNT), 0);
            }
        r.until("all", [&] {
            return r.count[ECHOED] == 400 && r.count[ECHO] == 400 && r.count[COUNT] == 400;
        });
        r.expect("requests", r.stats().requests, 800u);
        r.expect("replies", r.stats().replies, 400u);
        r.expect("handled", r.stats().handled, 1200u);
        r.expect("refused", r.stats().refused, 0u);
        r.expect("misuse", r.stats().misuse, 0u);
    });
}

// ---- waiting ------------------------------------------------------------------

TEST_CASE("gam_wait times out when nothing comes")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        while (gam_poll(r.g) > 0)
            ;
        r.expect("look", gam_wait(r.g, 0), 0);
        errno = EINTR; // of long ago
        r.expect("wait", gam_wait(r.g, 20), 0);
    });
}

TEST_CASE("gam_wait takes its time and hardly any processor time")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        auto seconds = [](clockid_t clock) {
            timespec t;

            clock_gettime(clock, &t);
            return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
        };
        const double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);

        r.expect("wait", gam_wait(r.g, 250), 0);
        r.expect("not less", seconds(CLOCK_MONOTONIC) - start > 0.249, true);
        r.expect("asleep", seconds(CLOCK_THREAD_CPUTIME_ID) - cpu < 0.125, true);
    });
}

TEST_CASE("gam_wait sleeps and is woken by a request, and its sender by the reply")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        use_all(r);
        for (uint64_t i = 0; i < 50; i++) {
            if (r.me == 0)
                r.expect("request", gam_request_1(r.g, 1, ECHO, i), 0);
            while (r.count[r.me == 0 ? ECHOED : ECHO] <= i)
                r.expect("wait", gam_wait(r.g, -1) >= 0, true);
        }
    });
}

TEST_CASE("a signal ends gam_wait")
{
    run("shm", 1, [](Rank &r) { // in a process of its own
        struct sigaction action = {}, before;
        const itimerval often = {{0, 10000}, {0, 10000}}, never = {};

        while (gam_poll(r.g) > 0)
            ;
        action.sa_handler = [](int) {};
        sigaction(SIGALRM, &action, &before);
        setitimer(ITIMER_REAL, &often, nullptr);
        r.expect("wait", gam_wait(r.g, 10000), -EINTR);
        setitimer(ITIMER_REAL, &never, nullptr);
        sigaction(SIGALRM, &before, nullptr);
    });
}

TEST_CASE("gam_wait handles what is there already without sleeping")
{
    run(EACH_BACKEND, 1, [](Rank &r) {
        use_all(r);
        r.expect("request", gam_request_0(r.g, 0, COUNT), 0);
        r.expect("wait", gam_wait(r.g, -1) > 0, true);
        r.expect("handled", r.count[COUNT], 1u);
    });
}

// Poll each time that something has come, until messages were handled.  Returns how many: 0 if
// nothing comes any more.
static int poll_arrivals(const Rank &r)
{
    pollfd arrivals = {unet_fd(r.ep), POLLIN, 0};
    int n = 0;

    while (n == 0 && poll(&arrivals, 1, 5000) == 1)
        n = gam_poll(r.g);
    return n;
}

// Who serves by a thread polls when something has come, and then sleeps again.
TEST_CASE("one poll handles what has come over a network")
{
    run("udp", 2, [](Rank &r) {
        use_all(r);
        r.expect("request", gam_request_0(r.g, r.right(), ECHO), 0); // opens the channel
        r.until("echo", [&] { return r.count[ECHOED] == 1 && r.count[ECHO] == 1; });
        r.barrier();
        if (r.me == 0) {
            while (r.shown(1, 0) == 0)
                continue;
            r.expect("request", gam_request_0(r.g, 1, COUNT), 0);
            while (r.shown(1, 1) == 0) // and nothing else comes, as from the barrier
                continue;
        } else {
            r.show(0, 1); // it does not poll any more, as it does in the barrier
            const int handled = poll_arrivals(r);

            r.show(1, 1);
            r.expect("handled", handled, 1);
        }
        r.barrier();
    });
}
