/* SPDX-License-Identifier: BSD-3-Clause
 *
 * em3d.sc - EM3D.
 *
 * The nodes' values are spread.  A global pointer leads to each value that a processor
 * needs of others; before it changes its nodes, it gets them all, and waits once.
 */
#include "circuit.h"

#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

/* What a processor needs of the nodes of one kind: its own, and those of others. */
struct view {
    double *value;           /* its own, followed by copies of those of others */
    double *ghost;           /* where the copies begin */
    double *global *far;     /* where they come from */
    long ghosts;
};

static struct view view_of(const struct sparse *a, long block, long room,
                           double values[PROCS]::[room])
{
    double *value = tolocal(values[MYPROC]);
    struct view v = {value, value + a->own, allocate(a->ghosts * sizeof *v.far), a->ghosts};

    for (long g = 0; g < a->ghosts; g++)
        v.far[g] = &values[a->ghost[g] / block][a->ghost[g] % block];
    return v;
}

static void get_ghosts(const struct view *v)
{
    for (long g = 0; g < v->ghosts; g++)
        v->ghost[g] := *v->far[g];
    sync();
}

/* Change the nodes `to`, once those of the other kind are as they should be everywhere. */
static void change(const struct sparse *a, struct view *from, double *to, struct watch *watch)
{
    barrier();
    get_ghosts(from);
    watch_communicated(watch);
    sparse_subtract(a, from->value, to);
    watch_computed(watch);
}

/* A block with room behind it for the ghosts, the same everywhere. */
static long room_for(const struct sparse *a)
{
    return (long)all_reduce_to_all_dmax(a->own + a->ghosts);
}

void propagate(struct nodes *e, struct nodes *h, long steps, struct watch *watch)
{
    long e_room = room_for(&h->from), h_room = room_for(&e->from);
    double electric[PROCS]::[e_room], magnetic[PROCS]::[h_room];
    struct view es = view_of(&h->from, block_length(e->n), e_room, electric);
    struct view hs = view_of(&e->from, block_length(h->n), h_room, magnetic);

    memcpy(es.value, e->value, e->from.rows * sizeof(double));
    memcpy(hs.value, h->value, h->from.rows * sizeof(double));
    watch_start(watch); /* all know what they need of whom */
    for (long step = 0; step < steps; step++) {
        progress("step", step, steps);
        change(&e->from, &hs, es.value, watch);
        change(&h->from, &es, hs.value, watch);
    }
    memcpy(e->value, es.value, e->from.rows * sizeof(double));
    memcpy(h->value, hs.value, h->from.rows * sizeof(double));
    barrier();
    watch_communicated(watch);
    free(es.far);
    free(hs.far);
}
