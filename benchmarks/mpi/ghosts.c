/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghosts.h"

#include "common.h"
#include "team.h"
#include "wait.h"
#include <stdlib.h>
#include <string.h>

/* The places that others ask for. */
static void ask(struct ghosts *g, const struct sparse *a, long block)
{
    long *count = allocate(team_size() * sizeof *count);
    int *wanted = allocate(a->ghosts * sizeof *wanted);

    memset(count, 0, team_size() * sizeof *count);
    for (long i = 0; i < a->ghosts; i++) {
        wanted[i] = (int)(a->ghost[i] % block);
        count[a->ghost[i] / block]++;
    }
    g->x = exchange_plan(count);
    g->place = allocate(g->x.in_all * sizeof *g->place);
    exchange_send(&g->x, wanted, g->place, sizeof *wanted);
    free(wanted);
    free(count);
}

struct ghosts ghosts_plan(const struct sparse *a, long columns, double *vector)
{
    struct ghosts g = {.own = a->own};

    ask(&g, a, block_length(columns));
    g.packed = allocate(g.x.in_all * sizeof *g.packed);
    g.request = allocate(2 * team_size() * sizeof *g.request);
    for (int p = 0; p < team_size(); p++) {
        if (g.x.out[p] > 0)
            MPI_Recv_init(vector + a->own + g.x.out_at[p], g.x.out[p], MPI_DOUBLE, p, 0,
                          MPI_COMM_WORLD, &g.request[g.requests++]);
        if (g.x.in[p] > 0)
            MPI_Send_init(g.packed + g.x.in_at[p], g.x.in[p], MPI_DOUBLE, p, 0, MPI_COMM_WORLD,
                          &g.request[g.requests++]);
    }
    return g;
}

void ghosts_fetch(struct ghosts *g, const double *vector)
{
    for (long i = 0; i < g->x.in_all; i++)
        g->packed[i] = vector[g->place[i]];
    MPI_Startall(g->requests, g->request);
    wait_all(g->requests, g->request);
}

void ghosts_free(struct ghosts *g)
{
    for (int i = 0; i < g->requests; i++)
        MPI_Request_free(&g->request[i]);
    exchange_free(&g->x);
    free(g->place);
    free(g->packed);
    free(g->request);
}
