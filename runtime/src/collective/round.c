/* SPDX-License-Identifier: BSD-3-Clause */
#include "round.h"

#include "observe/observe.h"

#include <stdlib.h>

#define WIDE 8u /* steps of a round that are not searched one by one */

struct splitc_operations *splitc_operations_of(struct splitc_team *t)
{
    if (!t->operations)
        t->operations = calloc(1, sizeof *t->operations);
    if (!t->operations)
        splitc_die("no memory for the collective operations of a team");
    return t->operations;
}

static bool round_is_wide(const struct splitc_operation *o)
{
    return o->end - o->first > WIDE;
}

/* The peer's entry in the table, or the free one where it belongs. */
static uint32_t *taker_entry(const struct splitc_operation *o, uint32_t peer)
{
    uint32_t at = splitc_takers_hash(&o->takers, peer);

    while (o->takers.first[at] && o->step[o->takers.first[at] - 1].peer != peer)
        at = (at + 1) & (o->takers.room - 1);
    return &o->takers.first[at];
}

void splitc_round_list_takers(struct splitc_operation *o)
{
    if (!round_is_wide(o))
        return;
    if (!splitc_takers_begin(&o->takers, o->end - o->first))
        splitc_die("no memory for the %u steps of %s", o->end - o->first,
                   splitc_collective_name(o->team, o->what));
    for (uint32_t i = o->end; i-- > o->first;) {
        uint32_t *entry;

        if (!splitc_step_takes(&o->step[i]))
            continue;
        entry = taker_entry(o, o->step[i].peer);
        o->step[i].next_taker = *entry;
        *entry = i + 1;
    }
}

/* The last step of a member stays in the table, as others are found beyond it. */
static struct splitc_step *round_look_up(const struct splitc_operation *o, uint32_t peer)
{
    uint32_t *entry = taker_entry(o, peer);
    struct splitc_step *s;

    if (*entry == 0)
        return NULL;
    while ((s = &o->step[*entry - 1])->noticed && s->next_taker)
        *entry = s->next_taker;
    return s->noticed ? NULL : s;
}

struct splitc_step *splitc_round_expecting(const struct splitc_operation *o, uint32_t peer)
{
    if (round_is_wide(o))
        return round_look_up(o, peer);
    for (uint32_t i = o->first; i < o->end; i++) {
        struct splitc_step *s = &o->step[i];

        if (s->peer == peer && !s->noticed && splitc_step_takes(s))
            return s;
    }
    return NULL;
}

bool splitc_round_has_one_receiver(const struct splitc_operation *o, uint32_t receiver)
{
    for (uint32_t i = o->first; i < o->end; i++)
        if (o->step[i].kind == SPLITC_SEND && o->step[i].peer != receiver)
            return false;
    return true;
}

void splitc_round_do_local_steps(struct splitc_operation *o)
{
    for (uint32_t i = o->first; i < o->end; i++) {
        struct splitc_step *s = &o->step[i];

        if (s->kind == SPLITC_LOCAL_COPY)
            memmove(s->to, s->from, s->n);
        else if (s->kind == SPLITC_LOCAL_COMBINE)
            splitc_combine_arrays(&o->with, s->to, s->from, s->n);
        else if (s->kind == SPLITC_LOCAL_COMBINE_BEFORE)
            splitc_combine_before(&o->with, s->to, s->from, s->n);
    }
}
