/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rsort.c - radix sort: the twin of splitc/rsort.sc.
 */
#include "exchange.h"
#include "keymail.h"
#include "local_sort.h"
#include "sort.h"
#include "team.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

const char sort_summary[] = "Radix sort of 32-bit keys.";

/* ---- global ranks -------------------------------------------------------------------- */

/* Collective: where this processor's first key with each digit goes: behind those of smaller
 * digits, and those of the same digit on earlier processors. */
static void rank_digits(const long own[RADIX], long rank[RADIX])
{
    const int processors = team_size(), here = team_rank();
    long *of = allocate(processors * RADIX * sizeof *of), smaller = 0;

    MPI_Allgather(own, RADIX, MPI_LONG, of, RADIX, MPI_LONG, MPI_COMM_WORLD);
    for (int d = 0; d < RADIX; d++) {
        rank[d] = smaller;
        for (int p = 0; p < processors; p++) {
            rank[d] += p < here ? of[p * RADIX + d] : 0;
            smaller += of[p * RADIX + d];
        }
    }
    free(of);
}

/* ---- bulk messages --------------------------------------------------------------------- */

static void count_by_rank(const long own[RADIX], const long rank[RADIX], long block, long count[])
{
    memset(count, 0, team_size() * sizeof count[0]);
    for (int d = 0; d < RADIX; d++)
        for (long at = rank[d], end = at + own[d]; at < end;) {
            long block_end = (at / block + 1) * block;
            long stop = end < block_end ? end : block_end;

            count[at / block] += stop - at;
            at = stop;
        }
}

/* Collective: keys in the order of their processors go there. */
static struct keys exchange_keys(const key *sorted, const long count[])
{
    struct exchange x = exchange_plan(count);
    struct keys room = {allocate(x.in_all * sizeof(key)), x.in_all};

    exchange_send(&x, sorted, room.at, sizeof(key));
    exchange_free(&x);
    return room;
}

static void pass_bulk(struct keys *keys, int which, long block, long count[], struct watch *watch)
{
    key *sorted = allocate(keys->n * sizeof *sorted);
    long own[RADIX], rank[RADIX];
    struct keys room;

    count_digits(keys->at, keys->n, which, own);
    sort_by_digit(keys->at, sorted, keys->n, which);
    watch_computed(watch);
    rank_digits(own, rank);
    count_by_rank(own, rank, block, count);
    room = exchange_keys(sorted, count);
    watch_communicated(watch);
    sort_by_digit(room.at, keys->at, room.n, which);
    free(room.at);
    free(sorted);
}

/* ---- small messages ------------------------------------------------------------------------ */

/* Each key goes to its place with its number there. */
static void pass_small(struct keys *keys, int which, long block, struct keymail *mail,
                       struct watch *watch)
{
    long own[RADIX], rank[RADIX];
    key *room = allocate(keys->n * sizeof *room);

    count_digits(keys->at, keys->n, which, own);
    watch_computed(watch);
    rank_digits(own, rank);
    keymail_begin(mail, room, keys->n);
    for (long i = 0; i < keys->n; i++) {
        long at = rank[digit(keys->at[i], which)]++;

        keymail_place(mail, (int)(at / block), at % block, keys->at[i]);
    }
    keymail_end(mail);
    watch_communicated(watch);
    free(keys->at);
    keys->at = room;
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    long *count = allocate(team_size() * sizeof *count), block = block_length(total);
    struct keymail *mail = variant == SMALL ? keymail_make() : NULL;

    for (int which = 0; which < DIGITS; which++)
        if (variant == BULK)
            pass_bulk(keys, which, block, count, watch);
        else
            pass_small(keys, which, block, mail, watch);
    if (mail)
        keymail_free(mail);
    free(count);
    watch_computed(watch);
}
