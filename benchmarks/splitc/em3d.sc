/* SPDX-License-Identifier: BSD-3-Clause
 *
 * em3d.sc - EM3D.
 *
 * The nodes' values are spread, and each processor keeps copies of those of others that it
 * needs.  In the beginning it tells their owners; whoever has changed its nodes stores the
 * copies where they belong, without waiting.
 */
#include "circuit.h"

#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

/* A copy of one of this processor's values that somebody needs. */
struct wish {
    long place;        /* of the value here */
    double *global to; /* where the copy is */
};

/* What a processor has of the nodes of one kind. */
struct view {
    double *value; /* its own, followed by copies of those of others */
    struct wish *wish;
    long wishes;
};

/* ---- who needs what ----------------------------------------------------------------- */

static long wishes_told[PROCS]::; /* to each processor */

static long run_end(const struct sparse *a, long begin, long block)
{
    long end = begin;

    while (end < a->ghosts && a->ghost[end] / block == a->ghost[begin] / block)
        end++;
    return end;
}

/* Collective: tell the owners of the values that the matrix needs of others where they go.
 * The wishes of one processor follow each other, and so do the copies. */
static void tell_wishes(const struct sparse *a, long block, long room,
                        double values[PROCS]::[room], struct view *view)
{
    double *copy = view->value + a->own;
    long *slot = allocate(PROCS * sizeof *slot), most;

    wishes_told[MYPROC] = 0;
    barrier();
    for (long g = 0, end; g < a->ghosts; g = end) {
        end = run_end(a, g, block);
        slot[a->ghost[g] / block] = fetch_add_l(&wishes_told[a->ghost[g] / block], end - g);
    }
    barrier();
    view->wishes = wishes_told[MYPROC];
    most = (long)all_reduce_to_all_dmax(view->wishes);
    view->wish = allocate(view->wishes * sizeof *view->wish);
    {
        struct wish told[PROCS]::[most];

        for (long g = 0; g < a->ghosts; g++) {
            long owner = a->ghost[g] / block;
            struct wish wish = {a->ghost[g] % block, toglobal(MYPROC, copy + g)};

            told[owner][slot[owner]++] :- wish;
        }
        all_store_sync();
        memcpy(view->wish, tolocal(told[MYPROC]), view->wishes * sizeof *view->wish);
    }
    free(slot);
}

static struct view view_of(const struct nodes *nodes, const struct sparse *needed_by, long room,
                           double values[PROCS]::[room])
{
    struct view v = {.value = (double *)tolocal(values[MYPROC])};

    memcpy(v.value, nodes->value, needed_by->own * sizeof(double));
    tell_wishes(needed_by, block_length(nodes->n), room, values, &v);
    return v;
}

/* ---- the waves -------------------------------------------------------------------------- */

static void send_copies(const struct view *v)
{
    for (long i = 0; i < v->wishes; i++)
        *v->wish[i].to :- v->value[v->wish[i].place];
    all_store_sync();
}

/* Change the nodes `to`, once those of the other kind are as they should be everywhere. */
static void change(const struct sparse *a, const struct view *from, double *to,
                   struct watch *watch)
{
    send_copies(from);
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
    struct view es = view_of(e, &h->from, e_room, electric);
    struct view hs = view_of(h, &e->from, h_room, magnetic);

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
    free(es.wish);
    free(hs.wish);
}
