/* SPDX-License-Identifier: BSD-3-Clause
 *
 * progress.c - serving messages, and waiting for them.
 *
 * A wait spins first: the answer of a peer that runs is there within a
 * microsecond.  Then it yields: the peer may want this very core.  Then it
 * sleeps until something arrives.  Where ranks share cores, spinning only keeps
 * the others from answering, and is left out.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "runtime.h"

#include "direct.h"
#include "library.h"
#include "observe/profile.h"
#include "observe/stats.h"
#include "observe/status.h"
#include "observe/trace.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#define SPINS 2000u       /* some 50 microseconds of empty polls */
#define NETWORK_SPINS 64u /* the same where each asks the system for packets */
#define YIELDS 64u        /* then as many turns for others */
#define NAP_MS 1          /* where nothing wakes us */
#define SLEEP_MS 100      /* no limit of the wait: it bounds how long a deadline goes unseen */

static uint32_t spin_limit = SPINS;
static uint32_t yield_limit = SPINS + YIELDS;

/* Ranks per core: what the launcher says, else a guess from the cores we may use. */
static long ranks_per_core(uint32_t local_ranks)
{
    const char *told = getenv("SPLITC_RANKS_PER_CORE");
    long ranks = told ? strtol(told, NULL, 10) : 0;
    cpu_set_t cores;

    if (ranks > 0)
        return ranks;
    if (sched_getaffinity(0, sizeof cores, &cores) < 0)
        return 1;
    return ((long)local_ranks + CPU_COUNT(&cores) - 1) / CPU_COUNT(&cores);
}

void splitc_progress_init(uint32_t local_ranks, bool network)
{
    spin_limit = ranks_per_core(local_ranks) > 1 ? 0 : network ? NETWORK_SPINS : SPINS;
    yield_limit = spin_limit + YIELDS;
}

bool splitc_shares_cores(void)
{
    return spin_limit == 0;
}

/* Messages of a peer that is dead now may still lie in its queue; poll them
 * before giving up, for they may end the wait. */
static __attribute__((cold, noinline)) void found_dead(struct splitc_wait *w)
{
    if (gam_poll(splitc_runtime.gam) > 0)
        w->idle = 0;
    else
        splitc_peer_died((uint32_t)gam_dead_peer(splitc_runtime.gam));
}

static void start_timing(struct splitc_wait *w)
{
    if (w->began > 0)
        return;
    w->began = splitc_get_seconds();
    w->site = splitc_site;
}

void splitc_wait_show(struct splitc_wait *w)
{
    if (splitc_runtime.timed)
        start_timing(w);
    splitc_status_waits(w);
}

/* Let others have the core.  Returns as gam_wait. */
static int rest(struct splitc_wait *w, int sleep_ms)
{
    int handled;

    splitc_wait_show(w);
    if (w->idle <= yield_limit)
        return sched_yield();
    handled = gam_wait(splitc_runtime.gam, sleep_ms);
    if (handled == 0)
        splitc_status_counts();
    return handled;
}

/* Messages came; those that changed nothing are as good as none. */
static void arrived(struct splitc_wait *w, uint64_t messages, uint64_t vain)
{
    if (messages == vain)
        return;
    w->idle = 0;
    splitc_status_arrived(messages - vain);
}

static void wait_step(struct splitc_wait *w, int sleep_ms)
{
    const uint64_t vain = splitc_runtime.vain;
    int handled;

    if (splitc_runtime.running)
        splitc_must_not_wait();
    if (splitc_is_foreign_thread())
        splitc_foreign_wait(w->what);
    if (__builtin_expect(splitc_runtime.timed, 0))
        start_timing(w);
    handled = gam_poll(splitc_runtime.gam);
    if (splitc_deferred_step())
        sleep_ms = NAP_MS;
    if (handled == 0 && ++w->idle > spin_limit)
        handled = rest(w, sleep_ms);
    if (handled > 0) {
        arrived(w, (uint64_t)handled, splitc_runtime.vain - vain);
    } else if (handled == -EPIPE) {
        found_dead(w);
    } else if (handled < 0 && handled != -EINTR) {
        splitc_die("cannot wait for messages: %s", strerror(-handled));
    }
}

void splitc_wait_step(struct splitc_wait *w)
{
    wait_step(w, SLEEP_MS);
}

void splitc_wait_step_unrung(struct splitc_wait *w)
{
    wait_step(w, NAP_MS);
}

/* ---- waiting for what others write through windows ------------------------------- */

/* Says that a write should be followed by a message.  The sleeper sets it, looks again,
 * and sleeps; the writer writes, then looks at it: either sees the other. */
static uint32_t asleep;

void splitc_wait_step_shared(struct splitc_wait *w)
{
    if (w->idle < yield_limit || __atomic_load_n(&asleep, __ATOMIC_RELAXED)) {
        wait_step(w, SLEEP_MS);
        return;
    }
    __atomic_store_n(&asleep, 1, __ATOMIC_RELAXED);
    splitc_full_fence();
}

void splitc_wait_over(struct splitc_wait *w)
{
    if (w->shown)
        splitc_status_runs();
    if (w->began > 0) {
        splitc_stats_waited(w);
        splitc_trace_waited(w);
        splitc_profile_waited(w);
    }
    __atomic_store_n(&asleep, 0, __ATOMIC_RELAXED);
}

static void wake_if_asleep(uint32_t rank)
{
    uint32_t *flag = splitc_peers_copy(rank, &asleep);

    if (flag && __atomic_load_n(flag, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(flag, 0, __ATOMIC_RELAXED))
        splitc_sent(rank, gam_request_0(splitc_runtime.gam, rank, SPLITC_MSG_WAKE));
}

void splitc_wake(uint32_t rank)
{
    splitc_full_fence();
    wake_if_asleep(rank);
}

void splitc_wake_all(void)
{
    splitc_full_fence();
    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++)
        wake_if_asleep(splitc_runtime.near[i]);
}

void splitc_on_wake(struct gam *g, const struct gam_message *m)
{
    (void)g;
    (void)m;
}

void splitc_await(const bool *done, const char *what, uint32_t whom)
{
    struct splitc_wait w = {.kind = SPLITC_WAIT_ACCESS, .what = what, .whom = whom};

    while (!*done)
        splitc_wait_step(&w);
    splitc_wait_end(&w);
}

/* Programs wait by polling, too: those that find nothing give others a turn now and then. */
int splitc_poll_once(void)
{
    SPLITC_INSIDE;

    static uint32_t idle;
    int handled;

    if (splitc_runtime.running)
        return 0; /* nothing may come between */
    if (splitc_is_foreign_thread())
        splitc_foreign_wait("poll");
    splitc_deferred_step();
    handled = gam_poll(splitc_runtime.gam);
    if (handled > 0)
        idle = 0;
    else if (++idle > spin_limit && idle % YIELDS == 0)
        sched_yield();
    return handled;
}

void splitc_poll(void)
{
    splitc_poll_once();
}
