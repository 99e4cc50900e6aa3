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

#include "library.h"

#include <sched.h>

#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */
#define TURNS 4u           /* that others get before we look for messages */

/* Processor 0's counts.  What a rank reads after the gate has opened stays until it
 * comes to the next meeting. */
static struct {
    uint64_t arrived; /* at all meetings so far */
    uint64_t said;    /* by the last to come: episode, rank and what it does */
    uint64_t busy;    /* the last episode that somebody came to who had sent a message */
    uint64_t open __attribute__((aligned(64))); /* the last episode that all came to */
    uint64_t result;
    uint32_t resting __attribute__((aligned(64))); /* ranks that may be asleep */
} gate __attribute__((aligned(64)));

static uint64_t left[GAM_RANKS_MAX]; /* processor 0's: the values */
static uint64_t meetings;            /* that we came to */
static uint64_t told;                /* how much we had sent then */
static uint64_t served;              /* the last episode at which we looked for what was sent */

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

/* ---- messages ---------------------------------------------------------------- */

static uint64_t sent(void)
{
    struct gam_stats s;

    gam_stats(splitc_runtime.gam, &s);
    return s.requests + s.replies + s.mediums + s.stores + s.gets + s.bulk_bytes;
}

static void tell_of_messages(uint64_t episode)
{
    const uint64_t now = sent();

    if (now != told)
        __atomic_store_n((uint64_t *)splitc_peers_copy(0, &gate.busy), episode, __ATOMIC_RELAXED);
    told = now;
}

/* A look at the queues of many ranks, out of their turn, costs as much as the turn itself. */
void splitc_gate_serve(uint64_t episode)
{
    const uint64_t *busy = splitc_peers_copy(0, &gate.busy);

    if (__atomic_load_n(busy, __ATOMIC_RELAXED) <= served)
        return;
    served = episode;
    splitc_poll();
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

/* Asking each rank whether it sleeps would be the longest part of opening the gate.  Who may
 * sleep says so and then looks at the gate once more; who opens it looks for sleepers then. */
static void rest_more(int32_t ranks)
{
    __atomic_add_fetch((uint32_t *)splitc_peers_copy(0, &gate.resting), (uint32_t)ranks,
                       __ATOMIC_SEQ_CST);
}

static void open_gate(uint64_t episode)
{
    __atomic_store_n((uint64_t *)splitc_peers_copy(0, &gate.open), episode, __ATOMIC_RELEASE);
    splitc_full_fence();
    if (__atomic_load_n((uint32_t *)splitc_peers_copy(0, &gate.resting), __ATOMIC_RELAXED) > 0)
        splitc_wake_all();
}

/* Those who have not come get their turn.  It mostly is all that it takes, and a look at many
 * ranks' queues costs as much as a turn. */
static bool give_turns(const uint64_t *open, uint64_t episode)
{
    for (uint32_t turns = 0; turns < TURNS && !is_open(open, episode); turns++)
        sched_yield();
    return is_open(open, episode);
}

static void wait_for(const uint64_t *open, uint64_t episode, enum splitc_collective what)
{
    struct splitc_wait w = {SPLITC_WAIT_COLLECTIVE, splitc_collective_name(what),
                            .whom = SPLITC_ANYBODY};

    if (splitc_runtime.timed)
        splitc_wait_show(&w);
    if (!give_turns(open, episode)) {
        rest_more(1);
        while (!is_open(open, episode)) {
            splitc_wait_step_shared(&w);
            if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
                splitc_check_agreement(episode);
        }
        rest_more(-1);
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
    tell_of_messages(episode);
    compare(
        __atomic_exchange_n((uint64_t *)splitc_peers_copy(0, &gate.said), own, __ATOMIC_ACQ_REL),
        episode);
    meetings++;
    if (__atomic_add_fetch((uint64_t *)splitc_peers_copy(0, &gate.arrived), 1, __ATOMIC_ACQ_REL) ==
        meetings * splitc_runtime.ranks) {
        *result = combine_all(with, value_there);
        open_gate(episode);
    } else {
        wait_for(open, episode, what);
    }
    return *result;
}
