/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spin.c - looking at memory for a while before the kernel is asked to wait.
 */
#include "spin/spin.h"
#include "record/pause.h"
#include "record/record.h"
#include <sched.h>
#include <stdlib.h>

enum {
    DEFAULT_NS = 50000,
    WAKES = 2,        /* it is worth while to spin for as long as so many wake-ups take ... */
    MOST_NS = 200000, /* ... at most */
    LEARN = 8,        /* wake-ups of which the mean is taken */
    FAR = 4,          /* times as long for another host */

    LOOK_AT_CLOCK = 16, /* turns; one is some 40 ns */
    YIELD = 32,

    LEAST_NS = 2000,  /* a shorter spin is not worth its while ... */
    TRY_AGAIN = 16,   /* ... but after so many waits the whole is tried ... */
    TRY_SELDOM = 256, /* ... and more and more seldom where that is in vain */

    BUSY_NS = 10000,          /* a yield takes so long only if another process runs meanwhile ... */
    SLICE_NS = 40000,        /* ... and so long if it has much to do */
    BUSY_FIRST_NS = 10000000, /* for so long the core is taken to be busy ... */
    BUSY_MOST_NS = 320000000, /* ... or if it is found so again and again */
};

/* The longest spin, and what a wake-up takes. */
static _Atomic uint64_t max_ns = DEFAULT_NS, wake_ns;
static bool learns = true;

/* Of this thread. */
static _Thread_local struct {
    uint64_t worth_ns;           /* how long spinning seems worth while ... */
    uint32_t skipped, try_after; /* ... vain waits since it did not, and how many these may be */
    uint64_t busy_ns, busy_until_ns; /* others want its core */
} own
    __attribute__((tls_model("initial-exec"))) = {.worth_ns = ~(uint64_t)0, .try_after = TRY_AGAIN};

/* ---- how long ------------------------------------------------------------------------ */

void sockets_spin_init(void)
{
    const char *text = getenv("UNETSOCK_SPIN");
    char *end;
    const unsigned long us = text ? strtoul(text, &end, 10) : 0;

    learns = !text || !*text || *end || us > 1000000;
    atomic_store(&max_ns, learns ? DEFAULT_NS : us * 1000);
}

void sockets_spin_learn(uint64_t ns)
{
    const uint64_t before = atomic_load_explicit(&wake_ns, memory_order_relaxed);
    const uint64_t mean = before - before / LEARN + (ns < MOST_NS ? ns : MOST_NS) / LEARN;
    const uint64_t worth = WAKES * mean < MOST_NS ? WAKES * mean : MOST_NS;

    if (!learns)
        return;
    atomic_store_explicit(&wake_ns, mean, memory_order_relaxed);
    atomic_store_explicit(&max_ns, worth > DEFAULT_NS ? worth : DEFAULT_NS, memory_order_relaxed);
}

static uint64_t at_most(uint64_t ns)
{
    const uint64_t max = atomic_load_explicit(&max_ns, memory_order_relaxed);

    return ns < max ? ns : max;
}

void sockets_spin_begin(struct sockets_spin *spin)
{
    *spin = (struct sockets_spin){.limit_ns = at_most(own.worth_ns)};
    if (spin->limit_ns >= LEAST_NS)
        return;
    spin->whole = ++own.skipped >= own.try_after;
    spin->limit_ns = spin->whole ? at_most(UINT64_MAX) : 0;
    if (spin->whole)
        own.skipped = 0;
}

/* A core that others want is no place to wait for what comes from another host: who yields it is
 * given it back when they have had their time, and who sleeps as soon as that has come. */
void sockets_spin_begin_far(struct sockets_spin *spin, bool far)
{
    sockets_spin_begin(spin);
    if (far)
        spin->limit_ns *= sockets_now_ns() < own.busy_until_ns ? 0 : FAR;
}

/* ---- turns --------------------------------------------------------------------------- */

static void lost(const struct sockets_spin *spin)
{
    own.worth_ns = at_most(own.worth_ns) * 3 / 4;
    if (spin->whole && own.try_after < TRY_SELDOM)
        own.try_after *= 2;
    atomic_fetch_add_explicit(&sockets_counters->spins_lost, 1, memory_order_relaxed);
}

static void note_busy(uint64_t now)
{
    const bool again = now < own.busy_until_ns + 2 * own.busy_ns;

    own.busy_ns = again ? 2 * own.busy_ns : BUSY_FIRST_NS;
    if (own.busy_ns > BUSY_MOST_NS)
        own.busy_ns = BUSY_MOST_NS;
    own.busy_until_ns = now + own.busy_ns;
}

/* Whoever comes back late has taken the processor from somebody: after one more look it is time to
 * sleep. */
static void yield(struct sockets_spin *spin)
{
    const uint64_t before = sockets_now_ns();
    uint64_t now;

    sched_yield();
    now = sockets_now_ns();
    if (now - before <= BUSY_NS)
        return;
    spin->start_ns = before - spin->limit_ns;
    if (learns && now - before > SLICE_NS)
        note_busy(now);
}

bool sockets_spin_turn(struct sockets_spin *spin)
{
    if (spin->limit_ns == 0)
        return false;
    if (spin->turn++ % LOOK_AT_CLOCK == 0) {
        const uint64_t now = sockets_now_ns();

        if (spin->turn == 1)
            spin->start_ns = now;
        else if (now - spin->start_ns >= spin->limit_ns) {
            lost(spin);
            return false;
        }
    }
    if (spin->turn % YIELD == 0)
        yield(spin);
    sockets_pause();
    return true;
}

/* What came was seen sooner than by sleeping.  Where that was tried once more, all that takes as
 * long is waited for so from now on; or the limit grows again bit by bit. */
void sockets_spin_won(const struct sockets_spin *spin)
{
    if (spin->turn == 0)
        return;
    if (__builtin_expect(!spin->whole, 1)) {
        own.worth_ns = at_most(2 * at_most(own.worth_ns) + LEAST_NS);
        return;
    }
    own.worth_ns = (sockets_now_ns() - spin->start_ns) * 3 / 2 + LEAST_NS;
    own.try_after = TRY_AGAIN;
}
