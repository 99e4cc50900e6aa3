/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghosts.h"

#include "common.h"
#include "exchange.h"
#include <split-c/castable.h>
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

/* Between nodes a message costs more than copying what goes with it, unless that is long. */
static int goes_packed(const struct bundle *b)
{
    enum { LONG_RUN = 64 };

    return !castable(b->first->to) && b->n < LONG_RUN * (b->end - b->first);
}

/* Runs are short, so packing goes by a list of elements. */
static int *list_places(const struct bundle *b)
{
    int *place = allocate(b->n * sizeof *place), *next = place;

    for (const struct copy *c = b->first; c < b->end; c++)
        for (long i = 0; i < c->n; i++)
            *next++ = (int)(c->place + i);
    return place;
}

static struct bundle bundle_of(const struct copy *first, long copies)
{
    struct bundle b = {first, first + copies, 0, NULL, NULL};

    for (const struct copy *c = b.first; c < b.end; c++)
        b.n += c->n;
    if (goes_packed(&b)) {
        b.packed = allocate(b.n * sizeof *b.packed);
        b.place = list_places(&b);
    }
    return b;
}

struct ghosts ghosts_plan(const struct sparse *a, double *vector)
{
    long *count = allocate(PROCS * sizeof *count);
    struct copy *wanted = list_wanted(a, vector, count);
    struct exchange x = exchange_plan(count);
    struct ghosts g = {vector, allocate(x.in_all * sizeof *g.copy),
                       allocate(PROCS * sizeof *g.bundle), 0, a->ghosts * sizeof *vector};

    team_alltoallv(TEAM_ALL, g.copy, x.in, x.in_at, wanted, x.out, x.out_at);
    for (int p = 0; p < PROCS; p++)
        if (x.in[p] > 0)
            g.bundle[g.bundles++] = bundle_of(g.copy + x.in_at[p], x.in[p]);
    exchange_free(&x);
    free(wanted);
    free(count);
    return g;
}

static void send_packed(const struct bundle *b, const double *own)
{
    for (long i = 0; i < b->n; i++)
        b->packed[i] = own[b->place[i]];
    bulk_store(b->first->to, b->packed, b->n * sizeof *b->packed);
}

static void send_each(const struct bundle *b, const double *own)
{
    for (const struct copy *c = b->first; c < b->end; c++)
        if (c->n == 1)
            *c->to :- own[c->place];
        else
            bulk_store(c->to, own + c->place, c->n * sizeof(double));
}

void ghosts_send(const struct ghosts *g)
{
    for (int i = 0; i < g->bundles; i++)
        if (g->bundle[i].packed)
            send_packed(&g->bundle[i], g->own);
        else
            send_each(&g->bundle[i], g->own);
}

static void bundle_free(struct bundle *b)
{
    free(b->packed);
    free(b->place);
}

void ghosts_free(struct ghosts *g)
{
    for (int i = 0; i < g->bundles; i++)
        bundle_free(&g->bundle[i]);
    free(g->bundle);
    free(g->copy);
}
