/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghosts.h"

#include "common.h"
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

static long wanted[PROCS]::; /* runs, of each processor */

/* Collective: where in each processor's list the runs begin that this one wants of it; they
 * follow each other.  From malloc. */
static long *find_slots(const struct sparse *a)
{
    long *slot = allocate(PROCS * sizeof *slot);

    wanted[MYPROC] = 0;
    barrier();
    for (long r = 0, end; r < a->runs; r = end) {
        int owner = a->run[r].processor;

        for (end = r + 1; end < a->runs && a->run[end].processor == owner;)
            end++;
        slot[owner] = fetch_add_l(&wanted[owner], end - r);
    }
    barrier();
    return slot;
}

struct ghosts ghosts_plan(const struct sparse *a, double *vector)
{
    long *slot = find_slots(a), copies = wanted[MYPROC];
    long most = (long)all_reduce_to_all_dmax(copies);
    struct ghosts g = {vector, allocate(copies * sizeof *g.copy), copies,
                       a->ghosts * sizeof *vector};
    struct copy told[PROCS]::[most];
    double *ghost = vector + a->own;

    for (long r = 0; r < a->runs; r++) {
        int owner = a->run[r].processor;
        struct copy copy = {a->run[r].place, a->run[r].n, toglobal(MYPROC, ghost)};

        told[owner][slot[owner]++] :- copy;
        ghost += copy.n;
    }
    all_store_sync();
    memcpy(g.copy, tolocal(told[MYPROC]), copies * sizeof *g.copy);
    free(slot);
    return g;
}

void ghosts_send(const struct ghosts *g)
{
    for (const struct copy *c = g->copy; c < g->copy + g->copies; c++)
        if (c->n == 1)
            *c->to :- g->own[c->place];
        else
            bulk_store(c->to, g->own + c->place, c->n * sizeof(double));
}

void ghosts_free(struct ghosts *g)
{
    free(g->copy);
}
