/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include "common.h"
#include <split-c/split-c.h>
#include <stdlib.h>

static long incoming[PROCS]::[PROCS];      /* [q][p]: keys that p has for q */
static key *global places[PROCS]::[PROCS]; /* [p][q]: where at q those of p go */

/* The other processors, each beginning with its own neighbour. */
static int other(int i)
{
    return (int)(((long)MYPROC + i) % PROCS);
}

key *global *make_room(const long count[], struct keys *room)
{
    const long *from = tolocal(incoming[MYPROC]);
    long before = 0;

    for (int i = 0; i < PROCS; i++)
        incoming[other(i)][MYPROC] :- count[other(i)];
    all_store_sync();

    room->n = 0;
    for (int p = 0; p < PROCS; p++)
        room->n += from[p];
    room->at = allocate(room->n * sizeof(key));

    for (int p = 0; p < PROCS; p++) {
        places[p][MYPROC] :- toglobal(MYPROC, room->at + before);
        before += from[p];
    }
    all_store_sync();
    return tolocal(places[MYPROC]);
}

long *run_starts(const long count[])
{
    long *start = allocate(PROCS * sizeof *start);

    start[0] = 0;
    for (int q = 1; q < PROCS; q++)
        start[q] = start[q - 1] + count[q - 1];
    return start;
}

void send_runs(const key *keys, const long count[], key *global place[])
{
    long *start = run_starts(count);

    for (int i = 0; i < PROCS; i++) {
        int q = other(i);
        if (count[q] > 0)
            bulk_store(place[q], keys + start[q], count[q] * sizeof(key));
    }
    all_store_sync();
    free(start);
}
