/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mm.c - blocked matrix multiplication: the twin of splitc/mm.sc.
 */
#include "block.h"
#include "product.h"
#include "team.h"
#include "wait.h"
#include "window.h"

#include <mpi.h>
#include <stdlib.h>

void blocks_allocate(struct blocks *m)
{
    struct window *window = allocate(sizeof *window);
    size_t block = sizeof(double) * m->b * m->b;

    m->mine = window_allocate(block_length((long)m->rows * m->columns), block, window);
    m->shared = window;
}

void blocks_free(struct blocks *m)
{
    window_free(m->shared);
    free(m->shared);
}

static MPI_Win window_of(const struct blocks *m)
{
    return ((struct window *)m->shared)->win;
}

static void fetch_block(const struct blocks *m, int i, int j, double *to, MPI_Request *request)
{
    long number = (long)i * m->columns + j;
    int doubles = m->b * m->b;

    MPI_Rget(to, doubles, MPI_DOUBLE, (int)(number % team_size()), number / team_size(), doubles,
             MPI_DOUBLE, window_of(m), request);
}

static void fetch(struct step at, const struct blocks *a, const struct blocks *b, double *x,
                  double *y, MPI_Request request[2])
{
    fetch_block(a, at.i, at.k, x, &request[0]);
    fetch_block(b, at.k, at.j, y, &request[1]);
}

static void multiply_steps(const struct blocks *a, const struct blocks *b, struct blocks *c,
                           struct watch *watch)
{
    size_t block = (size_t)a->b * a->b;
    long steps = steps_here(a->rows, a->columns, b->columns);
    double *x = allocate(2 * block * sizeof *x), *y = allocate(2 * block * sizeof *y);
    MPI_Request request[2];

    if (steps > 0)
        fetch(step_at(0, a->columns, b->columns), a, b, x, y, request);
    for (long s = 0; s < steps; s++) {
        size_t here = (s & 1) * block, ahead = block - here;

        progress("step", s, steps);
        wait_all(2, request);
        if (s + 1 < steps)
            fetch(step_at(s + 1, a->columns, b->columns), a, b, x + ahead, y + ahead, request);
        watch_communicated(watch);
        block_multiply_add(a->b, c->mine + s / a->columns * block, x + here, y + here);
        watch_computed(watch);
    }
    free(x);
    free(y);
}

void multiply(const struct blocks *a, const struct blocks *b, struct blocks *c, struct watch *watch)
{
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_of(a));
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_of(b));
    team_barrier();
    multiply_steps(a, b, c, watch);
    MPI_Win_unlock_all(window_of(b));
    MPI_Win_unlock_all(window_of(a));
    team_barrier();
    watch_communicated(watch);
}
