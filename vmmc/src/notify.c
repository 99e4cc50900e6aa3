/* SPDX-License-Identifier: BSD-3-Clause
 *
 * notify.c - notifications: queued by handlers of GAM, which may not send, and run by polls.
 */
#include "internal.h"
#include <stdlib.h>

enum { QUEUE_LEAST = 64 };

static bool queue_grow(struct vmmc_queue *q)
{
    const uint32_t size = q->size ? 2 * q->size : QUEUE_LEAST;
    struct vmmc_waiting *at = size <= VMMC_WAITING_MAX ? malloc(size * sizeof(*at)) : NULL;

    if (!at)
        return false;
    for (uint32_t i = 0; i < q->count; i++)
        at[i] = q->at[(q->first + i) % q->size];
    free(q->at);
    *q = (struct vmmc_queue){.at = at, .size = size, .count = q->count};
    return true;
}

static bool queue_add(struct vmmc_queue *q, const struct vmmc_waiting *w)
{
    if (q->count == q->size && !queue_grow(q))
        return false;
    q->at[(q->first + q->count++) % q->size] = *w;
    return true;
}

void vmmc_notify_on_notify(struct gam *g, const struct gam_message *m)
{
    struct vmmc *v = gam_placement_arg(g);
    const struct vmmc_exported *e =
        v && m->words >= 3 ? vmmc_export_find(v, (uint32_t)m->word[1]) : NULL;
    /* What came through a window brings no bytes along. */
    const size_t length = m->words == 4 ? m->word[3] : m->length;
    const struct vmmc_waiting w = {
        .number = (uint32_t)m->word[1],
        .notification = {m->source, (uint32_t)m->word[0], m->word[2], length},
    };

    /* As the hook: any message can name this handler. */
    if (!e || e->right[m->source] == 0 || m->word[2] > e->n || length > e->n - m->word[2]) {
        if (v)
            v->stats.refused++;
        return;
    }
    if (!queue_add(&v->queue, &w))
        v->stats.dropped++;
}

/* Of an export that has ended in the meantime nothing is run. */
static int notify_run_first(struct vmmc *v)
{
    struct vmmc_queue *q = &v->queue;
    const struct vmmc_waiting w = q->at[q->first];
    struct vmmc_exported *e = vmmc_export_find(v, w.number);

    q->first = (q->first + 1) % q->size;
    q->count--;
    if (!e || !e->notify)
        return 0;
    v->stats.notifications++;
    v->running = true;
    e->notify(e, e->arg, &w.notification);
    v->running = false;
    return 1;
}

int vmmc_notify_run(struct vmmc *v)
{
    uint32_t most = v->queue.count; /* those that come meanwhile wait for the next poll */
    int ran = 0;

    for (; most > 0 && v->blocked == 0 && v->queue.count > 0; most--)
        ran += notify_run_first(v);
    return ran;
}

void vmmc_block(struct vmmc *v)
{
    v->blocked++;
}

void vmmc_unblock(struct vmmc *v)
{
    if (v->blocked > 0 && --v->blocked == 0 && !v->running)
        vmmc_notify_run(v);
}
