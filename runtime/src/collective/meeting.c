/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meeting.c - barriers, and the meetings that keep ranks from running too far ahead.
 */
#include "meeting.h"

#include "access/access.h"
#include "episode.h"
#include "gate.h"
#include "library.h"

const struct splitc_collective_checks *splitc_collective_checks;

/* A dissemination barrier: in round k each member tells the one 2^k above it and hears from the one
 * 2^k below.  After log2(members) rounds each has heard, directly or not, from all others. */
static void meet_in_rounds(struct splitc_team *t)
{
    const uint32_t here = t->at, size = t->size;

    for (unsigned round = 0; 1u << round < size; round++) {
        splitc_episode_tell(t, (here + (1u << round)) % size, round, 0);
        splitc_episode_hear(t, round, (here + size - (1u << round)) % size);
    }
}

/* The same among the first members of the nodes. */
static void meet_across_nodes(struct splitc_team *t)
{
    const uint32_t *first = t->first;
    const uint32_t nodes = t->nodes, here = t->node_at;

    for (unsigned round = 0; 1u << round < nodes; round++) {
        splitc_episode_tell(t, first[(here + (1u << round)) % nodes], SPLITC_ACROSS + round, 0);
        splitc_episode_hear(t, SPLITC_ACROSS + round,
                            first[(here + nodes - (1u << round)) % nodes]);
    }
}

/* Up a binomial tree of the node's members, across the nodes, and down again.  Each node sends one
 * message per round; all else goes through windows. */
static void meet_by_nodes(struct splitc_team *t)
{
    const uint32_t *near = t->near;
    const uint32_t here = t->near_at;
    unsigned level = 0;

    for (; !(here >> level & 1) && here + (1u << level) < t->near_size; level++)
        splitc_episode_hear(t, level, near[here + (1u << level)]);
    if (here == 0) {
        meet_across_nodes(t);
    } else {
        const uint32_t parent = here & (here - 1);

        splitc_episode_tell(t, near[parent], (unsigned)__builtin_ctz(here), 0);
        splitc_episode_hear(t, SPLITC_DOWN, near[parent]);
    }
    while (level-- > 0)
        splitc_episode_tell(t, near[here + (1u << level)], SPLITC_DOWN, 0);
}

/* After a meeting the messages that were sent before it have arrived. */
static void meeting_serve(struct splitc_team *t)
{
    if (t->crowded)
        splitc_gate_serve(t);
    else
        splitc_poll();
}

void splitc_meeting_begin(struct splitc_team *t, enum splitc_collective what)
{
    if (!splitc_episode_is_meeting(what) && splitc_episode_needs_meeting(t))
        splitc_meet(t, SPLITC_BARRIER);
    splitc_episode_begin(t, what);
}

void splitc_meet(struct splitc_team *t, enum splitc_collective what)
{
    splitc_episode_begin(t, what);
    splitc_meeting_pass(t);
}

void splitc_meeting_pass(struct splitc_team *t)
{
    if (t->crowded)
        splitc_gate_meet(t, t->current, SPLITC_ADD, 0);
    else if (t->nodes > 0)
        meet_by_nodes(t);
    else
        meet_in_rounds(t);
    meeting_serve(t);
    splitc_episode_passed(t);
}

void splitc_barrier(void)
{
    SPLITC_INSIDE;
    splitc_check_collective(&splitc_team_all, SPLITC_BARRIER, 0, 0);
    splitc_meet(&splitc_team_all, SPLITC_BARRIER);
}

void splitc_team_barrier(struct splitc_team *t)
{
    SPLITC_INSIDE;
    splitc_team_check(t);
    splitc_check_collective(t, SPLITC_BARRIER, 0, 0);
    splitc_meet(t, SPLITC_BARRIER);
}
