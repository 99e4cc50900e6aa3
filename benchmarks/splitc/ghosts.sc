/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghosts.h"

#include "common.h"
#include "exchange.h"
#include <split-c/collective.h>
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

/* The runs that this processor wants, as many of each owner, in the order of the owners. */
static struct copy *list_wanted(const struct sparse *a, double *vector, long count[])
{
    struct copy *wanted = allocate(a->runs * sizeof *wanted);
    double *ghost = vector + a->own;

    memset(count, 0, PROCS * sizeof *count);
    for (long r = 0; r < a->runs; r++) {
        const struct run *run = &a->run[r];

        wanted[r] = (struct copy){run->place, run->n, toglobal(MYPROC, ghost)};
        count[run->processor]++;
        ghost += run->n;
    }
    return wanted;
}

struct ghosts ghosts_plan(const struct sparse *a, double *vector)
{
    long *count = allocate(PROCS * sizeof *count);
    struct copy *wanted = list_wanted(a, vector, count);
    struct exchange x = exchange_plan(count);
    struct ghosts g = {vector, allocate(x.in_all * sizeof *g.copy), x.in_all,
                       a->ghosts * sizeof *vector};

    team_alltoallv(TEAM_ALL, g.copy, x.in, x.in_at, wanted, x.out, x.out_at);
    exchange_free(&x);
    free(wanted);
    free(count);
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
