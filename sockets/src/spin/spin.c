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
    DEFAULT_US = 50,
    LOOK_AT_CLOCK = 16, /* turns; one is some 40 ns */
    YIELD = 32,
    BUSY_NS = 10000, /* a yield takes so long only if another process runs meanwhile */
    LEAST_NS = 2000, /* a shorter spin is not worth its while ... */
    TRY_AGAIN = 16,  /* ... but every so often the whole is tried */
};

static uint64_t max_ns = DEFAULT_US * 1000;

/* Of this thread: how long spinning seems worth while, and vain waits since it did not. */
static _Thread_local uint64_t worth_ns __attribute__((tls_model("initial-exec"))) = ~(uint64_t)0;
static _Thread_local uint32_t skipped __attribute__((tls_model("initial-exec")));

void sockets_spin_init(void)
{
    const char *text = getenv("UNETSOCK_SPIN");
    char *end;

    if (text) {
        const unsigned long us = strtoul(text, &end, 10);
        if (*text && !*end && us <= 1000000)
            max_ns = us * 1000;
    }
}

void sockets_spin_begin(struct sockets_spin *spin)
{
    *spin = (struct sockets_spin){.limit_ns = worth_ns < max_ns ? worth_ns : max_ns};
    if (spin->limit_ns < LEAST_NS && max_ns > 0)
        spin->limit_ns = ++skipped % TRY_AGAIN ? 0 : max_ns;
}

void sockets_spin_begin_far(struct sockets_spin *spin, bool far)
{
    sockets_spin_begin(spin);
    if (far)
        spin->limit_ns *= 4;
}

static void lost(void)
{
    worth_ns = (worth_ns < max_ns ? worth_ns : max_ns) * 3 / 4;
    atomic_fetch_add_explicit(&sockets_counters->spins_lost, 1, memory_order_relaxed);
}

/* Whoever comes back late has taken the processor from somebody: after one more look it is time to
 * sleep. */
static void yield(struct sockets_spin *spin)
{
    const uint64_t before = sockets_now_ns();

    sched_yield();
    if (sockets_now_ns() - before > BUSY_NS)
        spin->start_ns = before - spin->limit_ns;
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
            lost();
            return false;
        }
    }
    if (spin->turn % YIELD == 0)
        yield(spin);
    sockets_pause();
    return true;
}

void sockets_spin_won(const struct sockets_spin *spin)
{
    if (spin->turn == 0)
        return;
    worth_ns = worth_ns < max_ns / 2 ? 2 * worth_ns + LEAST_NS : max_ns;
}
