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

/* A dissemination barrier: in round k each rank tells the one 2^k above it and hears from the one
 * 2^k below.  After log2(ranks) rounds each has heard, directly or not, from all others. */
static void meet_in_rounds(void)
{
    const uint32_t rank = splitc_runtime.rank, ranks = splitc_runtime.ranks;

    for (unsigned round = 0; 1u << round < ranks; round++) {
        splitc_episode_tell((rank + (1u << round)) % ranks, round, 0);
        splitc_episode_hear(round, (rank + ranks - (1u << round)) % ranks);
    }
}

/* The same among the first ranks of the nodes. */
static void meet_across_nodes(void)
{
    const uint32_t *first = splitc_runtime.first;
    const uint32_t nodes = splitc_runtime.nodes, here = splitc_runtime.node_at;

    for (unsigned round = 0; 1u << round < nodes; round++) {
        splitc_episode_tell(first[(here + (1u << round)) % nodes], SPLITC_ACROSS + round, 0);
        splitc_episode_hear(SPLITC_ACROSS + round, first[(here + nodes - (1u << round)) % nodes]);
    }
}

/* Up a binomial tree of the node's ranks, across the nodes, and down again.  Each node sends one
 * message per round; all else goes through windows. */
static void meet_by_nodes(void)
{
    const uint32_t *near = splitc_runtime.near;
    const uint32_t here = splitc_runtime.near_at;
    unsigned level = 0;

    for (; !(here >> level & 1) && here + (1u << level) < splitc_runtime.near_ranks; level++)
        splitc_episode_hear(level, near[here + (1u << level)]);
    if (here == 0) {
        meet_across_nodes();
    } else {
        const uint32_t parent = here & (here - 1);

        splitc_episode_tell(near[parent], (unsigned)__builtin_ctz(here), 0);
        splitc_episode_hear(SPLITC_DOWN, near[parent]);
    }
    while (level-- > 0)
        splitc_episode_tell(near[here + (1u << level)], SPLITC_DOWN, 0);
}

/* After a meeting the messages that were sent before it have arrived. */
static void meeting_serve(void)
{
    if (splitc_runtime.crowded)
        splitc_gate_serve();
    else
        splitc_poll();
}

void splitc_meeting_begin(enum splitc_collective what)
{
    if (!splitc_episode_is_meeting(what) && splitc_episode_needs_meeting())
        splitc_meet(SPLITC_BARRIER);
    splitc_episode_begin(what);
}

void splitc_meet(enum splitc_collective what)
{
    splitc_episode_begin(what);
    if (splitc_runtime.crowded)
        splitc_gate_meet(what, SPLITC_ADD, 0);
    else if (splitc_runtime.nodes > 0)
        meet_by_nodes();
    else
        meet_in_rounds();
    meeting_serve();
    splitc_episode_passed();
}

void splitc_barrier(void)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_BARRIER, 0, 0);
    splitc_meet(SPLITC_BARRIER);
}
