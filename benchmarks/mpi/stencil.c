/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stencil.c - the five-point stencil: the twin of splitc/stencil.sc.
 */
#include "relax.h"
#include "team.h"
#include "wait.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void relax_rows(long first, long last, long columns, const double *from, double *to)
{
    for (long r = first; r <= last; r++)
        relax_row(columns, from + (r - 1) * columns, from + r * columns, from + (r + 1) * columns,
                  to + r * columns);
}

/* The neighbours, or none. */
struct neighbours {
    int above, below;
};

static struct neighbours neighbours_of(long rows)
{
    int me = team_rank();

    return (struct neighbours){
        me > 0 && block_share(rows, me) > 0 ? me - 1 : MPI_PROC_NULL,
        me + 1 < team_size() && block_share(rows, me + 1) > 0 ? me + 1 : MPI_PROC_NULL};
}

/* Rows 1 to n lie between two ghosts. */
static void send_edges(struct neighbours to, long n, int columns, double *grid,
                       MPI_Request request[4])
{
    MPI_Irecv(grid, columns, MPI_DOUBLE, to.above, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(grid + (n + 1) * columns, columns, MPI_DOUBLE, to.below, 0, MPI_COMM_WORLD,
              &request[1]);
    MPI_Isend(grid + columns, columns, MPI_DOUBLE, to.above, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(grid + n * columns, columns, MPI_DOUBLE, to.below, 0, MPI_COMM_WORLD, &request[3]);
}

void relax(struct grid *grid, long steps, struct watch *watch)
{
    long n = block_share(grid->rows, team_rank()), columns = grid->columns;
    size_t room = (n + 2) * columns * sizeof(double), bytes = n * columns * sizeof(double);
    struct neighbours to = neighbours_of(grid->rows);
    long top = team_rank() == 0 ? 2 : 1;
    long bottom = team_rank() * block_length(grid->rows) + n == grid->rows ? n - 1 : n;
    double *old = allocate(room), *new = allocate(room), *swap;
    MPI_Request request[4];

    memcpy(old + columns, grid->at, bytes);
    memcpy(new + columns, grid->at, bytes);
    watch_start(watch); /* both grids are there */
    for (long step = 0; step < steps; step++) {
        progress("step", step, steps);
        send_edges(to, n, (int)columns, old, request);
        watch_communicated(watch);
        relax_rows(top + 1, bottom - 1, columns, old, new);
        watch_computed(watch);
        wait_all(4, request);
        watch_communicated(watch);
        relax_rows(top, top <= bottom ? top : 0, columns, old, new);
        if (bottom > top)
            relax_rows(bottom, bottom, columns, old, new);
        watch_computed(watch);
        swap = old;
        old = new;
        new = swap;
    }
    memcpy(grid->at, old + columns, bytes);
    watch_computed(watch);
    free(old);
    free(new);
}
