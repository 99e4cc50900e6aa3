/* SPDX-License-Identifier: BSD-3-Clause */
#include "matching.h"

#include <stdlib.h>
#include <string.h>

struct splitc_early_queue {
    uint32_t peer;
    bool used; /* by that member, also when it is empty */
    struct splitc_early *first, *last;
};

static uint32_t hash(uint32_t peer, uint32_t room)
{
    return (uint32_t)(peer * 2654435761u) >> 7 & (room - 1);
}

/* ---- pieces that are early ------------------------------------------------------------------ */

/* The member's queue, or the free entry where it belongs. */
static struct splitc_early_queue *queue_of(const struct splitc_inbox *box, uint32_t peer)
{
    uint32_t at = hash(peer, box->room);

    while (box->queue[at].used && box->queue[at].peer != peer)
        at = (at + 1) & (box->room - 1);
    return &box->queue[at];
}

static bool inbox_grow(struct splitc_inbox *box)
{
    const struct splitc_inbox old = *box;
    const uint32_t room = old.room ? 2 * old.room : 4;
    struct splitc_early_queue *queue = calloc(room, sizeof *queue);

    if (!queue)
        return false;
    box->queue = queue;
    box->room = room;
    for (uint32_t i = 0; i < old.room; i++)
        if (old.queue[i].used)
            *queue_of(box, old.queue[i].peer) = old.queue[i];
    free(old.queue);
    return true;
}

bool splitc_inbox_put(struct splitc_inbox *box, struct splitc_early *e)
{
    struct splitc_early_queue *q;

    if (2 * box->used >= box->room && !inbox_grow(box))
        return false;
    q = queue_of(box, e->peer);
    if (!q->used) {
        q->used = true;
        q->peer = e->peer;
        box->used++;
    }
    e->next = NULL;
    if (q->first)
        q->last->next = e;
    else
        q->first = e;
    q->last = e;
    box->pieces++;
    return true;
}

struct splitc_early *splitc_inbox_first(const struct splitc_inbox *box, uint32_t peer)
{
    return box->pieces > 0 ? queue_of(box, peer)->first : NULL;
}

struct splitc_early *splitc_inbox_take(struct splitc_inbox *box, uint32_t peer)
{
    struct splitc_early_queue *q = queue_of(box, peer);
    struct splitc_early *e = q->first;

    q->first = e->next;
    box->pieces--;
    return e;
}

struct splitc_early *splitc_inbox_find(const struct splitc_inbox *box,
                                       bool (*is)(const struct splitc_early *, const void *),
                                       const void *argument)
{
    for (uint32_t i = 0; box->pieces > 0 && i < box->room; i++)
        for (struct splitc_early *e = box->queue[i].first; e; e = e->next)
            if (is(e, argument))
                return e;
    return NULL;
}

void splitc_inbox_close(struct splitc_inbox *box)
{
    free(box->queue);
    *box = (struct splitc_inbox){.queue = NULL};
}

/* ---- steps that take ------------------------------------------------------------------------ */

bool splitc_takers_begin(struct splitc_takers *t, uint32_t steps)
{
    uint32_t room = 16;

    while (room / 2 < steps)
        room *= 2;
    if (room > t->allocated) {
        free(t->first);
        t->first = malloc(room * sizeof *t->first);
        t->allocated = t->first ? room : 0;
    }
    if (!t->first)
        return false;
    t->room = room;
    memset(t->first, 0, room * sizeof *t->first);
    return true;
}

void splitc_takers_close(struct splitc_takers *t)
{
    free(t->first);
    *t = (struct splitc_takers){.first = NULL};
}

uint32_t splitc_takers_hash(const struct splitc_takers *t, uint32_t peer)
{
    return hash(peer, t->room);
}
