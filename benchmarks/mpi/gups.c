/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gups.c - random updates, each one MPI_Accumulate: the twin of splitc/gups.sc.
 */
#include "team.h"
#include "updates.h"
#include "window.h"

#include <mpi.h>
#include <string.h>

#define PORTION 1024 /* accumulations that one processor begins before it completes them */

void apply(struct table *table, const struct updates *updates, struct watch *watch)
{
    long block = block_length(1l << table->log2), n = block_share(1l << table->log2, team_rank());
    long *own, added[PORTION]; /* operands stay as they are until they are flushed */
    struct window window;

    own = window_allocate(block, sizeof *own, &window);
    memset(own, 0, block * sizeof *own);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win);
    watch_start(watch); /* all of the table is there */
    for (long i = 0; i < updates->n; i++) {
        unsigned long update = update_of(updates, i);
        long slot = slot_of(table, update);

        if (i % PORTION == 0) {
            progress("update", i, updates->n);
            MPI_Win_flush_local_all(window.win);
        }
        added[i % PORTION] = (long)update;
        MPI_Accumulate(&added[i % PORTION], 1, MPI_LONG, (int)(slot / block), slot % block, 1,
                       MPI_LONG, MPI_SUM, window.win);
    }
    MPI_Win_unlock_all(window.win);
    team_barrier();
    memcpy(table->at, own, n * sizeof *own);
    watch_communicated(watch);
    window_free(&window);
}
