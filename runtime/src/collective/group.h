/* SPDX-License-Identifier: BSD-3-Clause
 *
 * group.h - some members of a team, in ascending order, of which this rank is one.
 */
#ifndef SPLITC_GROUP_H
#define SPLITC_GROUP_H

#include "team.h"

struct splitc_group {
    const uint32_t *list; /* NULL: first, first + step, ... */
    uint32_t first, step;
    uint32_t size;
    uint32_t at; /* this rank's index */
};

static inline uint32_t splitc_group_member(const struct splitc_group *g, uint32_t i)
{
    return g->list ? g->list[i] : g->first + i * g->step;
}

static inline struct splitc_group splitc_group_all(const struct splitc_team *t)
{
    return (struct splitc_group){.step = 1, .size = t->size, .at = t->at};
}

/* Of a team with blocks: those of this node, and the first of each node, of which this rank has to
 * be one. */
static inline struct splitc_group splitc_group_node(const struct splitc_team *t)
{
    return (struct splitc_group){.list = t->near, .size = t->near_size, .at = t->near_at};
}

static inline struct splitc_group splitc_group_heads(const struct splitc_team *t)
{
    return (struct splitc_group){.list = t->first, .size = t->nodes, .at = t->node_at};
}

/* Of a team with blocks: the node of a member. */
static inline uint32_t splitc_group_node_of(const struct splitc_team *t, uint32_t member)
{
    uint32_t low = 0, high = t->nodes;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (t->first[middle] <= member)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
