/* SPDX-License-Identifier: BSD-3-Clause
 *
 * judge.c - whether this process's connections from other hosts do better by links or by TCP.
 */
#include "net/judge.h"
#include "record/pause.h"
#include "record/record.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_LINKS = 2,
    READS = 16,            /* between two looks at the clock */
    CALM_NS = 50000000,    /* after links have come or gone, before a trial */
    SETTLE_NS = 2000000,   /* after a change of the way, which do not count */
    WINDOW_NS = 6000000,   /* in which reads are counted */
    BROKEN_NS = 100000000, /* a window that takes so long had a pause in it */
    WINDOWS = 4,           /* of a trial, in turns */
    LEAST_READS = 64,      /* in a window; with fewer it does not matter */
    MARGIN = 32,           /* the other way has to be better by this part */
};
static const double clearly_worse = 0.85; /* one window of that is enough */
static const uint64_t first_pause_ns = 1000000000, longest_pause_ns = 64000000000;

enum step { WAITS, SETTLES, COUNTS };

static _Atomic uint32_t links, reads;
static _Atomic uint64_t bytes; /* of them: the same work, however many reads it took */
static _Atomic bool by_tcp;
static bool is_forced;
static uint32_t force_after;

static uint64_t real_now(void)
{
    return sockets_now_ns();
}

uint64_t (*sockets_judge_now)(void) = real_now;

/* All under the lock. */
static struct {
    struct sockets_lock lock;
    enum step step;
    bool verdict; /* between trials */
    uint32_t windows, begun_reads, links;
    uint64_t begun_bytes, at_ns, pause_ns;
    double rate[2]; /* by links, and by TCP */
} judge;

void sockets_judge_init(void)
{
    const char *text = getenv("UNETSOCK_NET_JUDGE");

    if (text && *text) {
        is_forced = true;
        force_after = (uint32_t)strtoul(text, NULL, 10);
        atomic_store(&by_tcp, strcmp(text, "tcp") == 0);
    }
}

/* Under the lock: no trial before that. */
static void wait_until(uint64_t ns)
{
    judge.step = WAITS;
    judge.at_ns = ns;
}

static void change_links(uint32_t count)
{
    bool stolen;

    if (is_forced || !sockets_lock_take(&judge.lock, &stolen))
        return;
    if (count < LEAST_LINKS)
        atomic_store(&by_tcp, judge.verdict = false);
    /* What was found of few does not hold for many. */
    if (count < LEAST_LINKS || count > 2 * judge.links || count < judge.links / 2) {
        judge.links = count;
        judge.pause_ns = first_pause_ns;
        atomic_store(&by_tcp, judge.verdict);
        wait_until(sockets_judge_now() + CALM_NS);
    }
    sockets_lock_give(&judge.lock);
}

void sockets_judge_add(void)
{
    change_links(atomic_fetch_add(&links, 1) + 1);
}

void sockets_judge_remove(void)
{
    change_links(atomic_fetch_sub(&links, 1) - 1);
}

/* ---- a trial; all under the lock ------------------------------------------------------- */

static void go_by(bool tcp, uint64_t now)
{
    atomic_store(&by_tcp, tcp);
    judge.step = SETTLES;
    judge.at_ns = now + SETTLE_NS;
}

static void decide(uint64_t now)
{
    const double used = judge.rate[judge.verdict], other = judge.rate[!judge.verdict];
    const bool changes = other > used + used / MARGIN;

    judge.verdict ^= changes;
    judge.pause_ns = changes ? first_pause_ns : 2 * judge.pause_ns;
    if (judge.pause_ns > longest_pause_ns)
        judge.pause_ns = longest_pause_ns;
    atomic_store(&by_tcp, judge.verdict);
    wait_until(now + judge.pause_ns);
}

static void end_window(uint64_t now, uint32_t count)
{
    const bool used = atomic_load(&by_tcp) == judge.verdict;
    const uint64_t passed = now - judge.at_ns;
    const double rate = (double)(atomic_load(&bytes) - judge.begun_bytes) / (double)passed;

    if ((used && count < LEAST_READS) || passed > BROKEN_NS) {
        atomic_store(&by_tcp, judge.verdict);
        wait_until(now + first_pause_ns);
        return;
    }
    judge.rate[atomic_load(&by_tcp)] += rate;
    judge.windows++;
    if (judge.windows == WINDOWS ||
        (!used && rate < clearly_worse * judge.rate[judge.verdict] / (judge.windows / 2)))
        decide(now);
    else
        go_by(!atomic_load(&by_tcp), now);
}

static void make_step(uint64_t now, uint32_t count)
{
    if (judge.step == COUNTS) {
        if (now - judge.at_ns >= WINDOW_NS)
            end_window(now, count - judge.begun_reads);
        return;
    }
    if (now < judge.at_ns)
        return;
    if (judge.step == SETTLES) {
        judge.step = COUNTS;
        judge.at_ns = now;
        judge.begun_reads = count;
        judge.begun_bytes = atomic_load(&bytes);
        return;
    }
    judge.windows = 0;
    judge.rate[0] = judge.rate[1] = 0;
    go_by(judge.verdict, now);
}

bool sockets_judge_count(uint64_t taken)
{
    const uint32_t count = atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed) + 1;
    const bool before = atomic_load(&by_tcp);

    atomic_fetch_add_explicit(&bytes, taken, memory_order_relaxed);
    if (is_forced) {
        if (force_after > 0 && count % force_after == 0)
            atomic_store(&by_tcp, !before);
    } else if (count % READS == 0 && atomic_load(&links) >= LEAST_LINKS &&
               sockets_lock_try(&judge.lock)) {
        make_step(sockets_judge_now(), count);
        sockets_lock_give(&judge.lock);
    }
    return atomic_load(&by_tcp) != before;
}

bool sockets_judge_says_tcp(void)
{
    return atomic_load_explicit(&by_tcp, memory_order_relaxed);
}

void sockets_judge_after_fork(void)
{
    atomic_store(&links, 0);
    atomic_store(&by_tcp, false);
    judge.lock = (struct sockets_lock){0};
    judge.verdict = false;
    judge.links = 0;
    judge.pause_ns = first_pause_ns;
    wait_until(0);
}
