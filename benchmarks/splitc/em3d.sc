/* SPDX-License-Identifier: BSD-3-Clause
 *
 * em3d.sc - EM3D.
 *
 * Each processor keeps copies of those nodes of others that it needs; whoever has changed its
 * nodes stores the copies where they belong.
 */
#include "circuit.h"
#include "ghosts.h"

#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

/* The values of the nodes of one kind, followed by copies of those of others, and who has copies
 * of them. */
struct view {
    double *value;
    struct ghosts ghosts;
};

static struct view view_of(const struct nodes *nodes, const struct sparse *needed_by,
                           double *value)
{
    memcpy(value, nodes->value, needed_by->own * sizeof *value);
    return (struct view){value, ghosts_plan(needed_by, value)};
}

/* Change the nodes `to`, once those of the other kind are as they should be everywhere. */
static void change(const struct sparse *a, const struct view *from, double *to,
                   struct watch *watch)
{
    ghosts_send(&from->ghosts);
    all_store_sync();
    watch_communicated(watch);
    sparse_subtract(a, from->value, to);
    watch_computed(watch);
}

/* A block with room behind it for the copies, the same everywhere. */
static long room_for(const struct sparse *a)
{
    return (long)all_reduce_to_all_dmax(a->own + a->ghosts);
}

void propagate(struct nodes *e, struct nodes *h, long steps, struct watch *watch)
{
    long e_room = room_for(&h->from), h_room = room_for(&e->from);
    double electric[PROCS]::[e_room], magnetic[PROCS]::[h_room];
    struct view es = view_of(e, &h->from, tolocal(electric[MYPROC]));
    struct view hs = view_of(h, &e->from, tolocal(magnetic[MYPROC]));

    watch_start(watch); /* all know who needs what of them */
    for (long step = 0; step < steps; step++) {
        progress("step", step, steps);
        change(&e->from, &hs, es.value, watch);
        change(&h->from, &es, hs.value, watch);
    }
    memcpy(e->value, es.value, e->from.rows * sizeof(double));
    memcpy(h->value, hs.value, h->from.rows * sizeof(double));
    barrier();
    watch_communicated(watch);
    ghosts_free(&es.ghosts);
    ghosts_free(&hs.ghosts);
}
