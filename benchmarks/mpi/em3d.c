/* SPDX-License-Identifier: BSD-3-Clause
 *
 * em3d.c - EM3D: the twin of splitc/em3d.sc.
 */
#include "circuit.h"
#include "ghosts.h"

#include <stdlib.h>
#include <string.h>

/* The nodes' values, followed by copies of those of others that a matrix needs. */
static double *view_of(const struct nodes *nodes, const struct sparse *needed_by)
{
    double *value = allocate((needed_by->own + needed_by->ghosts) * sizeof *value);

    memcpy(value, nodes->value, needed_by->own * sizeof *value);
    return value;
}

static void change(const struct sparse *a, struct ghosts *ghosts, const double *from, double *to,
                   struct watch *watch)
{
    ghosts_fetch(ghosts, from);
    watch_communicated(watch);
    sparse_subtract(a, from, to);
    watch_computed(watch);
}

void propagate(struct nodes *e, struct nodes *h, long steps, struct watch *watch)
{
    double *es = view_of(e, &h->from), *hs = view_of(h, &e->from);
    struct ghosts e_ghosts = ghosts_plan(&h->from, e->n, es);
    struct ghosts h_ghosts = ghosts_plan(&e->from, h->n, hs);

    watch_start(watch); /* all know what they need of whom */
    for (long step = 0; step < steps; step++) {
        progress("step", step, steps);
        change(&e->from, &h_ghosts, hs, es, watch);
        change(&h->from, &e_ghosts, es, hs, watch);
    }
    memcpy(e->value, es, e->from.rows * sizeof *es);
    memcpy(h->value, hs, h->from.rows * sizeof *hs);
    watch_communicated(watch);
    ghosts_free(&e_ghosts);
    ghosts_free(&h_ghosts);
    free(es);
    free(hs);
}
