/* SPDX-License-Identifier: BSD-3-Clause
 *
 * progress.c - serving messages, and waiting for them.
 *
 * A wait rests as the policy of the job says (unet_rest.h), and then sleeps until something
 * arrives.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "access.h"

#include "library.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unet/unet_rest.h>

#define NAP_MS 1     /* a sleep where nothing wakes this rank */
#define SLEEP_MS 100 /* any other: it bounds how late a deadline is noticed, not the wait */

bool (*splitc_operations_step)(void);

static const struct unet_rest_policy *policy = &unet_rest_memory;

/* What the launcher says, or else as many as the cores that this process may use give. */
static long ranks_per_core(uint32_t local_ranks)
{
    const char *setting = getenv("SPLITC_RANKS_PER_CORE");
    long ranks = setting ? strtol(setting, NULL, 10) : 0;
    cpu_set_t cores;

    if (ranks > 0)
        return ranks;
    if (sched_getaffinity(0, sizeof cores, &cores) < 0)
        return 1;
    return ((long)local_ranks + CPU_COUNT(&cores) - 1) / CPU_COUNT(&cores);
}

void splitc_progress_open(uint32_t local_ranks, bool network)
{
    if (ranks_per_core(local_ranks) > 1)
        policy = &unet_rest_crowded;
    else
        policy = network ? &unet_rest_network : &unet_rest_memory;
}

bool splitc_shares_cores(void)
{
    return policy == &unet_rest_crowded;
}

/* Messages that a peer sent before it died may still be in its queue.  They may end the wait, so
 * serve them before giving up. */
static __attribute__((cold, noinline)) void wait_found_dead(struct splitc_wait *w)
{
    if (gam_poll(splitc_runtime.gam) > 0)
        w->idle = 0;
    else
        splitc_peer_died((uint32_t)gam_dead_peer(splitc_runtime.gam));
}

static void wait_tell(enum splitc_event_kind kind, struct splitc_wait *w)
{
    splitc_event_tell(&(struct splitc_event){.kind = kind, .wait = w});
}

static void wait_start_timing(struct splitc_wait *w)
{
    if (w->began > 0)
        return;
    w->began = splitc_get_seconds();
    wait_tell(SPLITC_EVENT_WAIT_BEGUN, w);
}

void splitc_wait_show(struct splitc_wait *w)
{
    if (splitc_event_wanted(SPLITC_EVENT_WAIT_BEGUN))
        wait_start_timing(w);
    wait_tell(SPLITC_EVENT_WAIT_CONTINUED, w);
}

static void wait_tell_slept(struct splitc_wait *w)
{
    struct splitc_event e = {.kind = SPLITC_EVENT_WAIT_SLEPT, .wait = w};

    splitc_stored_counts(&e.stored, &e.landed);
    splitc_event_tell(&e);
}

/* Let other ranks have the core.  Returns as gam_wait. */
static int wait_rest(struct splitc_wait *w, int sleep_ms)
{
    int handled;

    splitc_wait_show(w);
    if (unet_rest_after(policy, w->idle))
        return 0;
    handled = gam_wait(splitc_runtime.gam, sleep_ms);
    if (handled == 0)
        wait_tell_slept(w);
    return handled;
}

/* Messages came.  Those that changed nothing do not count. */
static void wait_arrived(struct splitc_wait *w, uint64_t messages, uint64_t vain)
{
    if (messages == vain)
        return;
    w->idle = 0;
    splitc_event_tell(
        &(struct splitc_event){.kind = SPLITC_EVENT_ARRIVED, .wait = w, .n = messages - vain});
}

/* A thread that wants to get in does not wake one that sleeps inside. */
static __attribute__((cold, noinline)) int wait_among_threads(int sleep_ms)
{
    splitc_monitor_pass();
    return sleep_ms < NAP_MS ? sleep_ms : NAP_MS;
}

static void wait_serve(struct splitc_wait *w, int sleep_ms)
{
    uint64_t vain;
    enum splitc_deferred deferred;
    int handled;

    if (splitc_runtime.running)
        splitc_must_not_wait();
    if (splitc_is_foreign_thread())
        splitc_foreign_wait(w->what);
    if (__builtin_expect(splitc_runtime.own_threads, 0))
        sleep_ms = wait_among_threads(sleep_ms);
    vain = splitc_runtime.vain;
    if (splitc_event_wanted(SPLITC_EVENT_WAIT_BEGUN))
        wait_start_timing(w);
    splitc_bursts++;
    handled = gam_poll(splitc_runtime.gam);
    deferred = splitc_deferred_step();
    if (deferred == SPLITC_DEFERRED_MOVED)
        w->idle = 0;
    else if (deferred == SPLITC_DEFERRED_STUCK)
        sleep_ms = NAP_MS;
    if (handled == 0 && deferred != SPLITC_DEFERRED_MOVED && ++w->idle > policy->spins)
        handled = wait_rest(w, sleep_ms);
    if (handled > 0) {
        wait_arrived(w, (uint64_t)handled, splitc_runtime.vain - vain);
    } else if (handled == -EPIPE) {
        wait_found_dead(w);
    } else if (handled < 0 && handled != -EINTR) {
        splitc_die("cannot wait for messages: %s", strerror(-handled));
    }
}

void splitc_wait_step(struct splitc_wait *w)
{
    wait_serve(w, SLEEP_MS);
}

void splitc_wait_step_unrung(struct splitc_wait *w)
{
    wait_serve(w, NAP_MS);
}

/* ---- waiting for what others write through windows ------------------------------- */

/* Asks writers to send a message after they have written.  The sleeper sets it, looks at the memory
 * again, and sleeps; the writer writes to the memory, then looks at this: one of them sees what the
 * other wrote. */
static uint32_t asleep;

void splitc_wait_step_shared(struct splitc_wait *w)
{
    if (w->idle < policy->spins + policy->yields || __atomic_load_n(&asleep, __ATOMIC_RELAXED)) {
        wait_serve(w, SLEEP_MS);
        return;
    }
    __atomic_store_n(&asleep, 1, __ATOMIC_RELAXED);
    splitc_full_fence();
}

void splitc_wait_over(struct splitc_wait *w)
{
    wait_tell(SPLITC_EVENT_WAIT_ENDED, w);
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

/* Programs wait by polling, too.  Where that finds nothing, it yields now and then. */
int splitc_poll_once(void)
{
    SPLITC_INSIDE;

    static uint32_t idle;
    int handled;

    if (splitc_runtime.running)
        return 0; /* a function of the program runs, which nothing may interrupt */
    if (splitc_is_foreign_thread())
        splitc_foreign_wait("poll");
    splitc_deferred_step();
    handled = gam_poll(splitc_runtime.gam);
    if (handled > 0)
        idle = 0;
    else
        unet_rest_awake(policy, ++idle);
    return handled;
}

void splitc_poll(void)
{
    splitc_poll_once();
}
