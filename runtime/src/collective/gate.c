/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c - a central barrier for ranks that share cores.
 *
 * Rounds of messages between pairs of ranks would make each rank wait several times for one that
 * may not be running.  Here each rank leaves its value with member 0 and adds itself to a count;
 * the last one combines the values and opens the gate.  So a meeting takes one time slice of each
 * rank, in whatever order the system runs them.
 */
#include "gate.h"

#include "access/access.h"
#include "combine.h"
#include "episode.h"
#include "inquiry.h"
#include "library.h"

#include <unet/unet_rest.h>

#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */
#define SERVE_INTERVAL                                                                             \
    8u /* meetings of a smaller team between two looks for messages of others                      \
        */

static uint64_t gate_statement(const struct splitc_team *t, enum splitc_collective what)
{
    return t->episode << 24 | (uint64_t)splitc_runtime.rank << 8 | what;
}

/* ---- messages ---------------------------------------------------------------- */

static uint64_t gate_messages_sent(void)
{
    struct gam_stats s;

    gam_stats(splitc_runtime.gam, &s);
    return s.requests + s.replies + s.mediums + s.stores + s.gets + s.bulk_bytes;
}

static void gate_tell_of_messages(struct splitc_team *t)
{
    const uint64_t now = gate_messages_sent();

    if (now != t->told)
        __atomic_store_n((uint64_t *)splitc_team_copy(t, 0, &t->board->gate.busy), t->episode,
                         __ATOMIC_RELAXED);
    t->told = now;
}

/* Who is not of a smaller team sends unnoticed, and is served now and then. */
static bool gate_looks_for_others(const struct splitc_team *t)
{
    return t != &splitc_team_all && t->episode % SERVE_INTERVAL == 0;
}

/* To look at the queues of many ranks costs as much as a time slice, so it is done only if one of
 * those who meet has sent a message. */
void splitc_gate_serve(struct splitc_team *t)
{
    const uint64_t *busy = splitc_team_copy(t, 0, &t->board->gate.busy);

    if (__atomic_load_n(busy, __ATOMIC_RELAXED) <= t->served && !gate_looks_for_others(t))
        return;
    t->served = t->episode;
    splitc_poll();
}

/* ---- combining ----------------------------------------------------------------- */

/* In the order of the binomial tree (reduce.c), so that results are the same to the bit. */
static uint64_t gate_combine(enum splitc_combine with, uint64_t *value, uint32_t members)
{
    for (uint32_t step = 1; step < members; step *= 2)
        for (uint32_t r = 0; r + step < members; r += 2 * step)
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
static void gate_add_resting(struct splitc_gate *gate, int32_t ranks)
{
    __atomic_add_fetch(&gate->resting, (uint32_t)ranks, __ATOMIC_SEQ_CST);
}

static void gate_open(struct splitc_gate *gate, uint64_t episode)
{
    __atomic_store_n(&gate->open, episode, __ATOMIC_RELEASE);
    splitc_full_fence();
    if (__atomic_load_n(&gate->resting, __ATOMIC_RELAXED) > 0)
        splitc_wake_all();
}

/* Let ranks that have not come run.  Mostly no more is needed. */
static bool gate_yield(const uint64_t *open, uint64_t episode)
{
    for (uint32_t looks = 1; !gate_is_open(open, episode); looks++)
        if (!unet_rest_after(&unet_rest_meeting, looks))
            return false;
    return true;
}

static void gate_wait(struct splitc_team *t, struct splitc_gate *gate, enum splitc_collective what)
{
    const uint64_t episode = t->episode;
    struct splitc_wait w = {SPLITC_WAIT_COLLECTIVE, splitc_collective_name(t, what),
                            .whom = SPLITC_ANYBODY};
    struct splitc_patience patience = {.over = false};

    if (splitc_event_wanted(SPLITC_EVENT_WAIT_BEGUN))
        splitc_wait_show(&w);
    if (!gate_yield(&gate->open, episode)) {
        gate_add_resting(gate, 1);
        while (!gate_is_open(&gate->open, episode)) {
            splitc_wait_step_shared(&w);
            if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
                splitc_episode_check(t, episode);
            if (w.shown && splitc_patience_ends(&patience))
                splitc_inquire_all(t);
        }
        gate_add_resting(gate, -1);
    }
    splitc_wait_end(&w);
}

uint64_t splitc_gate_meet(struct splitc_team *t, enum splitc_collective what,
                          enum splitc_combine with, uint64_t value)
{
    struct splitc_board *board = splitc_team_copy(t, 0, t->board);
    struct splitc_gate *gate = &board->gate;
    const uint64_t episode = t->episode;

    splitc_board_left(board)[t->at] = value;
    gate_tell_of_messages(t);
    splitc_episode_agree_said(
        t, __atomic_exchange_n(&gate->said, gate_statement(t, what), __ATOMIC_ACQ_REL), episode);
    t->meetings++;
    if (__atomic_add_fetch(&gate->arrived, 1, __ATOMIC_ACQ_REL) == t->meetings * t->size) {
        gate->result = gate_combine(with, splitc_board_left(board), t->size);
        gate_open(gate, episode);
    } else {
        gate_wait(t, gate, what);
    }
    return gate->result;
}
