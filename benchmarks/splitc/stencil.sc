/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stencil.sc - the five-point stencil.
 *
 * Each processor's rows lie between two ghost rows.  A step stores the first and the last
 * row into the neighbours' ghosts, works on the rows that need none meanwhile, and then
 * on the first and the last.
 */
#include "relax.h"

#include <split-c/split-c.h>
#include <string.h>

/* Rows 1 to n are this processor's; those of the whole grid's border are left out. */
static void relax_rows(long from_row, long to_row, long columns, double (*from)[columns],
                       double (*to)[columns])
{
    for (long r = from_row; r <= to_row; r++)
        relax_row(columns, from[r - 1], from[r], from[r + 1], to[r]);
}

static void send_edges(long rows, long block, long columns,
                       double grid[PROCS]::[block + 2][columns])
{
    double(*own)[columns] = tolocal(grid[MYPROC]);
    long n = block_share(rows, MYPROC), bytes = columns * sizeof(double);

    if (MYPROC > 0 && n > 0)
        bulk_store(&grid[MYPROC - 1][block + 1][0], own[1], bytes);
    if (MYPROC + 1 < PROCS && block_share(rows, MYPROC + 1) > 0)
        bulk_store(&grid[MYPROC + 1][0][0], own[n], bytes);
}

void relax(struct grid *grid, long steps, struct watch *watch)
{
    long block = block_length(grid->rows), n = block_share(grid->rows, MYPROC);
    long columns = grid->columns, bytes = n * columns * sizeof(double);
    long top = MYPROC == 0 ? 2 : 1, bottom = MYPROC * block + n == grid->rows ? n - 1 : n;
    double here[PROCS]::[block + 2][columns], there[PROCS]::[block + 2][columns];
    double (*spread from)[block + 2][columns] = here;
    double (*spread to)[block + 2][columns] = there;

    memcpy(tolocal(here[MYPROC][1]), grid->at, bytes);
    memcpy(tolocal(there[MYPROC][1]), grid->at, bytes);
    watch_start(watch); /* both grids are there */
    for (long step = 0; step < steps; step++) {
        double(*old)[columns] = tolocal(from[MYPROC]), (*new)[columns] = tolocal(to[MYPROC]);
        double (*spread swap)[block + 2][columns] = from;

        progress("step", step, steps);
        send_edges(grid->rows, block, columns, from);
        watch_communicated(watch);
        relax_rows(top + 1, bottom - 1, columns, old, new);
        watch_computed(watch);
        all_store_sync();
        watch_communicated(watch);
        relax_rows(top, top <= bottom ? top : 0, columns, old, new);
        if (bottom > top)
            relax_rows(bottom, bottom, columns, old, new);
        watch_computed(watch);
        from = to;
        to = swap;
    }
    memcpy(grid->at, tolocal(from[MYPROC][1]), bytes);
    watch_computed(watch);
}
