/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c - meetings of ranks that share cores.
 *
 * Rounds of messages between pairs of ranks make each wait for one that may not be
 * running, several times over.  Here everybody leaves its value with processor 0 and
 * counts itself in; the last one to come combines the values and opens the gate.  So
 * a meeting takes one turn of each rank, in whatever order the system runs them.
 */
#include "episode.h"

#include <sched.h>

#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */

/* Processor 0's counts.  What a rank reads after the gate has opened stays until it
 * comes to the next meeting. */
static struct {
    uint64_t arrived; /* at all meetings so far */
    uint64_t said;    /* by the last to come: episode, rank and what it does */
    uint64_t open __attribute__((aligned(64))); /* the last episode that all came to */
    uint64_t result;
} gate __attribute__((aligned(64)));

static uint64_t left[GAM_RANKS_MAX]; /* processor 0's: the values */
static uint64_t meetings;            /* that we came to */

/* ---- what the others do ------------------------------------------------------ */

static uint64_t statement(uint64_t episode, enum splitc_collective what, uint32_t rank)
{
    return episode << 24 | (uint64_t)rank << 8 | what;
}

static void compare(uint64_t said, uint64_t episode)
{
    if (said >> 24 == (episode & UINT64_MAX >> 24))
        splitc_agree(episode, (enum splitc_collective)(said & 0xff), said >> 8 & 0xffff);
}

void splitc_gate_compare(uint64_t episode)
{
    if (splitc_runtime.crowded)
        compare(__atomic_load_n((uint64_t *)splitc_peers_copy(0, &gate.said), __ATOMIC_RELAXED),
                episode);
}

/* ---- combining ----------------------------------------------------------------- */

/* In the order of the binomial tree, so that results are the same to the bit. */
static uint64_t combine_all(enum splitc_combine with, uint64_t *value)
{
    for (uint32_t step = 1; step < splitc_runtime.ranks; step *= 2)
        for (uint32_t r = 0; r + step < splitc_runtime.ranks; r += 2 * step)
            value[r] = splitc_combine(with, value[r], value[r + step]);
    return value[0];
}

/* ---- the meeting ------------------------------------------------------------------ */

static bool is_open(const uint64_t *open, uint64_t episode)
{
    return __atomic_load_n(open, __ATOMIC_ACQUIRE) >= episode;
}

/* Those who have not come get their turn before we look for messages: it mostly is all that
 * it takes, and a look at many ranks' queues costs as much. */
static void wait_for(const uint64_t *open, uint64_t episode, enum splitc_collective what)
{
    struct splitc_wait w = {SPLITC_WAIT_COLLECTIVE, splitc_collective_name(what),
                            .whom = SPLITC_ANYBODY};

    if (!is_open(open, episode))
        sched_yield();
    while (!is_open(open, episode)) {
        splitc_wait_step_shared(&w);
        if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
            splitc_check_agreement(episode);
    }
    splitc_wait_end(&w);
}

uint64_t splitc_gate_meet(uint64_t episode, enum splitc_collective what, enum splitc_combine with,
                          uint64_t value)
{
    const uint64_t own = statement(episode, what, splitc_runtime.rank);
    uint64_t *value_there = splitc_peers_copy(0, left);
    uint64_t *open = splitc_peers_copy(0, &gate.open);
    uint64_t *result = splitc_peers_copy(0, &gate.result);

    value_there[splitc_runtime.rank] = value;
    compare(
        __atomic_exchange_n((uint64_t *)splitc_peers_copy(0, &gate.said), own, __ATOMIC_ACQ_REL),
        episode);
    meetings++;
    if (__atomic_add_fetch((uint64_t *)splitc_peers_copy(0, &gate.arrived), 1, __ATOMIC_ACQ_REL) ==
        meetings * splitc_runtime.ranks) {
        *result = combine_all(with, value_there);
        __atomic_store_n(open, episode, __ATOMIC_RELEASE);
        splitc_wake_all();
    } else {
        wait_for(open, episode, what);
    }
    return *result;
}
