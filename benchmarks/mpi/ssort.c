/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ssort.c - sample sort: the twin of splitc/ssort.sc.
 */
#include "exchange.h"
#include "keymail.h"
#include "local_sort.h"
#include "sampling.h"
#include "sort.h"
#include "team.h"

#include <mpi.h>
#include <stdlib.h>

const char sort_summary[] = "Sample sort of 32-bit keys.";

/* Collective: the splitters, everywhere; from malloc. */
static tagged *agree_on_splitters(const struct keys *keys, long total)
{
    int n = samples_each();
    tagged *sample = allocate(n * sizeof *sample);
    tagged *all = allocate(team_size() * n * sizeof *all);
    tagged *splitter = allocate(team_size() * sizeof *splitter);

    take_samples(keys, total, sample, n);
    MPI_Gather(sample, n, MPI_UNSIGNED_LONG, all, n, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    if (team_rank() == 0)
        choose_splitters(all, n, splitter);
    MPI_Bcast(splitter, team_size(), MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    free(all);
    free(sample);
    return splitter;
}

/* ---- the two ways to get there --------------------------------------------------------- */

/* The places at the others begin behind the keys of the processors before this one. */
static void send_pairs(const struct exchange *x, const struct keys *keys, const uint16_t owner[],
                       struct keys *room)
{
    int *next = allocate(team_size() * sizeof *next);
    struct keymail *mail = keymail_make();

    MPI_Alltoall(x->in_at, 1, MPI_INT, next, 1, MPI_INT, MPI_COMM_WORLD);
    keymail_begin(mail, room->at, room->n);
    for (long i = 0; i < keys->n; i++)
        keymail_place(mail, owner[i], next[owner[i]]++, keys->at[i]);
    keymail_end(mail);
    keymail_free(mail);
    free(next);
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    uint16_t *owner = allocate(keys->n * sizeof *owner);
    long *count = allocate(team_size() * sizeof *count);
    tagged *splitter = agree_on_splitters(keys, total);
    struct exchange x;
    struct keys room;

    watch_communicated(watch);
    find_owners(keys, total, splitter, owner, count);
    if (variant == BULK)
        presort(keys, owner, count);
    watch_computed(watch);
    x = exchange_plan(count);
    room = (struct keys){allocate(x.in_all * sizeof(key)), x.in_all};
    if (variant == BULK)
        exchange_send(&x, keys->at, room.at, sizeof(key));
    else
        send_pairs(&x, keys, owner, &room);
    watch_communicated(watch);
    exchange_free(&x);
    free(splitter);
    free(count);
    free(owner);
    free(keys->at);
    *keys = room;
    sort_locally(keys);
    watch_computed(watch);
}
