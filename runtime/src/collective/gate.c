/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c - a central barrier for ranks that share cores.
 *
 * Rounds of messages between pairs of ranks would make each rank wait several times for one that
 * may not be running.  Here each rank leaves its value with processor 0 and adds itself to a count;
 * the last one combines the values and opens the gate.  So a meeting takes one time slice of each
 * rank, in whatever order the system runs them.
 */
#include "gate.h"

#include "access/access.h"
#include "combine.h"
#include "episode.h"
#include "library.h"

#include <sched.h>

#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */
#define TURNS 4u           /* yields before this rank looks for messages */

static uint64_t left[GAM_RANKS_MAX]; /* at processor 0: the values */
static uint64_t meetings;            /* that this rank came to */
static uint64_t told;                /* messages that this rank had sent then */
static uint64_t served;              /* the last episode at which it looked for messages */

static uint64_t gate_statement(enum splitc_collective what)
{
    return splitc_runtime.episode << 24 | (uint64_t)splitc_runtime.rank << 8 | what;
}

/* ---- messages ---------------------------------------------------------------- */

static uint64_t gate_messages_sent(void)
{
    struct gam_stats s;

    gam_stats(splitc_runtime.gam, &s);
    return s.requests + s.replies + s.mediums + s.stores + s.gets + s.bulk_bytes;
}

static void gate_tell_of_messages(void)
{
    const uint64_t now = gate_messages_sent();

    if (now != told)
        __atomic_store_n((uint64_t *)splitc_peers_copy(0, &splitc_gate.busy),
                         splitc_runtime.episode, __ATOMIC_RELAXED);
    told = now;
}

/* To look at the queues of many ranks costs as much as a time slice, so it is done only if a
 * message was sent. */
void splitc_gate_serve(void)
{
    const uint64_t *busy = splitc_peers_copy(0, &splitc_gate.busy);

    if (__atomic_load_n(busy, __ATOMIC_RELAXED) <= served)
        return;
    served = splitc_runtime.episode;
    splitc_poll();
}

/* ---- combining ----------------------------------------------------------------- */

/* In the order of the binomial tree (reduce.c), so that results are the same to the bit. */
static uint64_t gate_combine(enum splitc_combine with, uint64_t *value)
{
    for (uint32_t step = 1; step < splitc_runtime.ranks; step *= 2)
        for (uint32_t r = 0; r + step < splitc_runtime.ranks; r += 2 * step)
            value[r] = splitc_combine(with, value[r], value[r + step]);
    return value[0];
}

/* ---- the meeting ------------------------------------------------------------------ */

static bool gate_is_open(const uint64_t *open, uint64_t episode)
{
    return __atomic_load_n(open, __ATOMIC_ACQUIRE) >= episode;
}

/* To ask each rank whether it sleeps would be the longest part of opening the gate.  So a rank that
 * may sleep counts itself first and then looks at the gate once more; the rank that opens the gate
 * looks at the count afterwards. */
static void gate_add_resting(int32_t ranks)
{
    __atomic_add_fetch((uint32_t *)splitc_peers_copy(0, &splitc_gate.resting), (uint32_t)ranks,
                       __ATOMIC_SEQ_CST);
}

static void gate_open(uint64_t episode)
{
    __atomic_store_n((uint64_t *)splitc_peers_copy(0, &splitc_gate.open), episode,
                     __ATOMIC_RELEASE);
    splitc_full_fence();
    if (__atomic_load_n((uint32_t *)splitc_peers_copy(0, &splitc_gate.resting), __ATOMIC_RELAXED) >
        0)
        splitc_wake_all();
}

/* Let ranks that have not come run.  Mostly no more is needed, and to look at the queues of many
 * ranks costs as much as a time slice. */
static bool gate_yield(const uint64_t *open, uint64_t episode)
{
    for (uint32_t turns = 0; turns < TURNS && !gate_is_open(open, episode); turns++)
        sched_yield();
    return gate_is_open(open, episode);
}

static void gate_wait(const uint64_t *open, uint64_t episode, enum splitc_collective what)
{
    struct splitc_wait w = {SPLITC_WAIT_COLLECTIVE, splitc_collective_name(what),
                            .whom = SPLITC_ANYBODY};

    if (splitc_event_wanted(SPLITC_EVENT_WAIT_BEGUN))
        splitc_wait_show(&w);
    if (!gate_yield(open, episode)) {
        gate_add_resting(1);
        while (!gate_is_open(open, episode)) {
            splitc_wait_step_shared(&w);
            if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
                splitc_episode_check(episode);
        }
        gate_add_resting(-1);
    }
    splitc_wait_end(&w);
}

uint64_t splitc_gate_meet(enum splitc_collective what, enum splitc_combine with, uint64_t value)
{
    const uint64_t episode = splitc_runtime.episode;
    uint64_t *value_there = splitc_peers_copy(0, left);
    uint64_t *open = splitc_peers_copy(0, &splitc_gate.open);
    uint64_t *result = splitc_peers_copy(0, &splitc_gate.result);
    uint64_t *said = splitc_peers_copy(0, &splitc_gate.said);
    uint64_t *arrived = splitc_peers_copy(0, &splitc_gate.arrived);

    value_there[splitc_runtime.rank] = value;
    gate_tell_of_messages();
    splitc_episode_agree_said(__atomic_exchange_n(said, gate_statement(what), __ATOMIC_ACQ_REL),
                              episode);
    meetings++;
    if (__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL) == meetings * splitc_runtime.ranks) {
        *result = gate_combine(with, value_there);
        gate_open(episode);
    } else {
        gate_wait(open, episode, what);
    }
    return *result;
}
