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

    BUSY_NS = 1000000, /* a yield takes so long only if another process has as much to do as we: */
    BUSY_TIMES = 16,   /* so many times as long the core is taken to be busy */
    SLICES_NS = 20000000, /* longer was not the other's doing: this one was stopped */
};

/* The longest spin, and what a wake-up takes. */
static _Atomic uint64_t max_ns = DEFAULT_NS, wake_ns;
static bool learns = true;

/* Of this thread. */
static _Thread_local struct {
    uint64_t worth_ns;           /* how long spinning seems worth while ... */
    uint32_t skipped, try_after; /* ... vain waits since it did not, and how many these may be */
    uint64_t busy_until_ns;      /* others want its core ... */
    bool yielded_in_vain;        /* ... and nothing had come when they last had had it for long */
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

static bool is_busy(void)
{
    if (own.busy_until_ns == 0)
        return false;
    if (sockets_now_ns() < own.busy_until_ns)
        return true;
    own.busy_until_ns = 0;
    return false;
}

/* A core that others want for long is no place to wait for an answer: who yields it is given it
 * back when they have had their time, and who sleeps as soon as the answer has come.  Who wants it
 * for a moment, as servers do for one request, gives it back before a sleeper would have been
 * woken.  More of a stream has come meanwhile, unless its sender shares the core: then each yield
 * gives the others their time, and the sender none. */
void sockets_spin_begin(struct sockets_spin *spin, enum sockets_spin_for what)
{
    *spin = (struct sockets_spin){.limit_ns = at_most(own.worth_ns)};
    if (__builtin_expect(is_busy(), 0) && (what != SOCKETS_SPIN_STREAM || own.yielded_in_vain)) {
        spin->limit_ns = 0;
        return;
    }
    if (spin->limit_ns < LEAST_NS) {
        spin->whole = ++own.skipped >= own.try_after;
        spin->limit_ns = spin->whole ? at_most(UINT64_MAX) : 0;
        own.skipped = spin->whole ? 0 : own.skipped;
    }
    if (what == SOCKETS_SPIN_FAR)
        spin->limit_ns *= FAR;
}

/* ---- turns --------------------------------------------------------------------------- */

static void lost(const struct sockets_spin *spin)
{
    atomic_fetch_add_explicit(&sockets_counters->spins_lost, 1, memory_order_relaxed);
    own.yielded_in_vain |= spin->yielded_long;
    if (own.busy_until_ns != 0 || spin->cut) /* that says nothing of how long waits take */
        return;
    own.worth_ns = at_most(own.worth_ns) * 3 / 4;
    if (spin->whole && own.try_after < TRY_SELDOM)
        own.try_after *= 2;
}

/* Let others have the processor.  False: they had it for long. */
static bool yield(void)
{
    const uint64_t before = sockets_now_ns();
    uint64_t took;

    sched_yield();
    took = sockets_now_ns() - before;
    if (took <= BUSY_NS)
        return true;
    if (learns)
        own.busy_until_ns = before + took + BUSY_TIMES * (took < SLICES_NS ? took : SLICES_NS);
    return false;
}

bool sockets_spin_yield(void)
{
    return !__builtin_expect(is_busy(), 0) && yield();
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
    if (spin->turn % YIELD == 0 && !yield()) {
        spin->yielded_long = true;
        spin->start_ns -= spin->limit_ns; /* after one more look it is time to sleep */
    }
    sockets_pause();
    return true;
}

/* What came was seen sooner than by sleeping.  Where that was tried once more, all that takes as
 * long is waited for so from now on; or the limit grows again bit by bit. */
void sockets_spin_won(const struct sockets_spin *spin)
{
    if (spin->turn == 0)
        return;
    if (spin->yielded_long)
        own.yielded_in_vain = false;
    if (__builtin_expect(!spin->whole, 1)) {
        own.worth_ns = at_most(2 * at_most(own.worth_ns) + LEAST_NS);
        return;
    }
    own.worth_ns = (sockets_now_ns() - spin->start_ns) * 3 / 2 + LEAST_NS;
    own.try_after = TRY_AGAIN;
}
