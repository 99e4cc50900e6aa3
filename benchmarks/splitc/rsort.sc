/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rsort.sc - radix sort: for each digit of the keys, the lowest first, all
 * processors count, agree on every key's rank, and send it there.
 */
#include "exchange.h"
#include "local_sort.h"
#include "sort.h"

#include <split-c/collective.h>
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

const char sort_summary[] = "Radix sort of 32-bit keys.";

/* ---- global ranks ------------------------------------------------------------ */

/* Counts become ranks: those of smaller digits first, then those of the same
 * digit on earlier processors.  count[p * width + d]. */
static void counts_to_ranks(long count[], long width)
{
    long all = 0, rank;

    for (long i = 0; i < width * PROCS; i++)
        all += count[i];
    rank = (long)all_scan_dadd(all) - all;
    for (long d = 0; d < width; d++)
        for (long p = 0; p < PROCS; p++) {
            long here = count[p * width + d];
            count[p * width + d] = rank;
            rank += here;
        }
}

/* A count for each digit, and for some more that no key has: as many of them belong to each
 * processor, which ranks them.  From malloc. */
static long *make_histogram(void)
{
    size_t bytes = PROCS * block_length(RADIX) * sizeof(long);
    long *histogram = allocate(bytes);

    memset(histogram, 0, bytes);
    return histogram;
}

/* Collective: the counts become the ranks of this processor's first key with each digit. */
static void rank_digits(long histogram[])
{
    long width = block_length(RADIX);
    long *count = allocate(PROCS * width * sizeof *count);

    team_alltoall(TEAM_ALL, count, histogram, width);
    counts_to_ranks(count, width);
    team_alltoall(TEAM_ALL, histogram, count, width);
    free(count);
}

/* ---- small messages ------------------------------------------------------------ */

/* The keys with one digit go to consecutive places, from processor to processor. */
struct run {
    key *global next;
    long left; /* places from `next` on that are on its processor */
    key waiting;
    int is_waiting;
};

static void start_run(struct run *run, long rank, long block, key to[PROCS]::[block])
{
    run->next = &to[rank / block][rank % block];
    run->left = block - rank % block;
    run->is_waiting = 0;
}

/* n places are taken; go on at the next processor when its block is full. */
static void advance(struct run *run, int n, long block)
{
    run->left -= n;
    if (run->left > 0) {
        run->next += n;
    } else {
        run->next = toglobal(toproc(run->next) + 1, tolocal(run->next) + n - block);
        run->left = block;
    }
}

static void send_one(struct run *run, key k, long block)
{
    *run->next :- k;
    advance(run, 1, block);
}

static void send_key(struct run *run, key k, long block)
{
    struct pair pair = {run->waiting, k};

    if (run->is_waiting) {
        *(struct pair *global)run->next :- pair;
        advance(run, 2, block);
        run->is_waiting = 0;
    } else if (run->left == 1) {
        send_one(run, k, block);
    } else {
        run->waiting = k;
        run->is_waiting = 1;
    }
}

static void send_by_rank(const key *from, long n, int which, const long rank[RADIX], long block,
                         key to[PROCS]::[block])
{
    struct run *run = allocate(RADIX * sizeof *run);

    for (int d = 0; d < RADIX; d++)
        start_run(&run[d], rank[d], block, to);
    for (long i = 0; i < n; i++)
        send_key(&run[digit(from[i], which)], from[i], block);
    for (int d = 0; d < RADIX; d++)
        if (run[d].is_waiting)
            send_one(&run[d], run[d].waiting, block);
    all_store_sync();
    free(run);
}

/* The keys go to and fro between two spread arrays. */
static void sort_small(struct keys *keys, long total, struct watch *watch)
{
    long block = block_length(total);
    long *histogram = make_histogram();
    key here[PROCS]::[block], there[PROCS]::[block];
    key (*spread from)[block] = here;
    key (*spread to)[block] = there;

    memcpy(tolocal(here[MYPROC]), keys->at, keys->n * sizeof(key));
    for (int which = 0; which < DIGITS; which++) {
        key (*spread swap)[block] = from;

        count_digits(tolocal(from[MYPROC]), keys->n, which, histogram);
        watch_computed(watch);
        rank_digits(histogram);
        send_by_rank(tolocal(from[MYPROC]), keys->n, which, histogram, block, to);
        watch_communicated(watch);
        from = to;
        to = swap;
    }
    memcpy(keys->at, tolocal(from[MYPROC]), keys->n * sizeof(key));
    free(histogram);
}

/* ---- bulk messages ----------------------------------------------------------------- */

/* How many of this processor's keys go to each: the ranks of one digit may lie
 * in several blocks. */
static void count_by_rank(const long own[RADIX], const long rank[RADIX], long block, long count[])
{
    memset(count, 0, PROCS * sizeof count[0]);
    for (int d = 0; d < RADIX; d++)
        for (long at = rank[d], end = at + own[d]; at < end;) {
            long block_end = (at / block + 1) * block;
            long stop = end < block_end ? end : block_end;
            count[at / block] += stop - at;
            at = stop;
        }
}

/* Sorted by the digit here, the keys lie in the order of their processors; what
 * arrives, sorted by it again, lies in the order of the ranks. */
static void pass_bulk(struct keys *keys, int which, long block, long count[], struct watch *watch)
{
    key *sorted = allocate(keys->n * sizeof *sorted);
    long own[RADIX], *histogram = make_histogram();
    struct keys room;

    count_digits(keys->at, keys->n, which, own);
    memcpy(histogram, own, sizeof own);
    sort_by_digit(keys->at, sorted, keys->n, which);
    watch_computed(watch);
    rank_digits(histogram);
    count_by_rank(own, histogram, block, count);
    room = exchange_keys(sorted, count);
    watch_communicated(watch);
    sort_by_digit(room.at, keys->at, room.n, which);
    free(room.at);
    free(histogram);
    free(sorted);
}

static void sort_bulk(struct keys *keys, long total, struct watch *watch)
{
    long *count = allocate(PROCS * sizeof *count);

    for (int which = 0; which < DIGITS; which++)
        pass_bulk(keys, which, block_length(total), count, watch);
    free(count);
    watch_computed(watch);
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    if (variant == SMALL)
        sort_small(keys, total, watch);
    else
        sort_bulk(keys, total, watch);
}
