/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include "common.h"
#include <split-c/collective.h>
#include <split-c/split-c.h>
#include <stdlib.h>

static long starts(const long *count, long *at)
{
    long all = 0;

    for (int p = 0; p < PROCS; p++) {
        at[p] = all;
        all += count[p];
    }
    return all;
}

struct exchange exchange_plan(const long out[])
{
    size_t bytes = PROCS * sizeof(long);
    struct exchange x = {out, allocate(bytes), allocate(bytes), allocate(bytes), 0};

    team_alltoall(TEAM_ALL, x.in, out, 1);
    starts(out, x.out_at);
    x.in_all = starts(x.in, x.in_at);
    return x;
}

void exchange_free(struct exchange *x)
{
    free(x->out_at);
    free(x->in);
    free(x->in_at);
}

struct keys exchange_room(const struct exchange *x)
{
    return (struct keys){allocate(x->in_all * sizeof(key)), x->in_all};
}

key *global *exchange_places(const struct exchange *x, const struct keys *room)
{
    key *global *begin = allocate(PROCS * sizeof *begin);
    key *global *place = allocate(PROCS * sizeof *place);

    for (int p = 0; p < PROCS; p++)
        begin[p] = toglobal(MYPROC, room->at + x->in_at[p]);
    team_alltoall(TEAM_ALL, place, begin, 1);
    free(begin);
    return place;
}

/* Stored rather than by team_alltoallv: where processors share cores, none has to run twice.  Nobody
 * stores keys of the next exchange before all have begun it, so the bytes that arrive are this one's. */
struct keys exchange_keys(const key *keys, const long out[])
{
    struct exchange x = exchange_plan(out);
    struct keys room = exchange_room(&x);
    key *global *place = exchange_places(&x, &room);

    for (int i = 1; i <= PROCS; i++) {
        int q = (int)(((long)MYPROC + i) % PROCS); /* each begins with its own neighbour */

        if (out[q] > 0)
            bulk_store(place[q], keys + x.out_at[q], out[q] * sizeof(key));
    }
    store_sync(room.n * sizeof(key));
    free(place);
    exchange_free(&x);
    return room;
}
