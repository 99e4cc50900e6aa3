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

/* Collective: where this processor's first key with each digit goes: behind those of smaller
 * digits, and those of the same digit on earlier processors. */
static void rank_digits(const long own[RADIX], long rank[RADIX])
{
    long *of = allocate(PROCS * RADIX * sizeof *of);
    long smaller = 0;

    team_allgather(TEAM_ALL, of, own, RADIX);
    for (int d = 0; d < RADIX; d++) {
        rank[d] = smaller;
        for (int p = 0; p < PROCS; p++) {
            rank[d] += p < MYPROC ? of[p * RADIX + d] : 0;
            smaller += of[p * RADIX + d];
        }
    }
    free(of);
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
    long own[RADIX], rank[RADIX];
    key here[PROCS]::[block], there[PROCS]::[block];
    key (*spread from)[block] = here;
    key (*spread to)[block] = there;

    memcpy(tolocal(here[MYPROC]), keys->at, keys->n * sizeof(key));
    for (int which = 0; which < DIGITS; which++) {
        key (*spread swap)[block] = from;

        count_digits(tolocal(from[MYPROC]), keys->n, which, own);
        watch_computed(watch);
        rank_digits(own, rank);
        send_by_rank(tolocal(from[MYPROC]), keys->n, which, rank, block, to);
        watch_communicated(watch);
        from = to;
        to = swap;
    }
    memcpy(keys->at, tolocal(from[MYPROC]), keys->n * sizeof(key));
}

/* ---- bulk messages ----------------------------------------------------------------- */

/* How many of this processor's keys go to each: the ranks of one digit may lie
 * in several blocks. */
static void count_by_rank(const long own[RADIX], const long rank[RADIX], long block, long to[])
{
    memset(to, 0, PROCS * sizeof to[0]);
    for (int d = 0; d < RADIX; d++)
        for (long at = rank[d], end = at + own[d]; at < end;) {
            long block_end = (at / block + 1) * block;
            long stop = end < block_end ? end : block_end;
            to[at / block] += stop - at;
            at = stop;
        }
}

/* Sorted by the digit here, the keys lie in the order of their processors; what
 * arrives, sorted by it again, lies in the order of the ranks. */
static void pass_bulk(struct keys *keys, int which, long block, long to[], struct watch *watch)
{
    key *sorted = allocate(keys->n * sizeof *sorted);
    long own[RADIX], rank[RADIX];
    struct keys room;

    count_digits(keys->at, keys->n, which, own);
    sort_by_digit(keys->at, sorted, keys->n, which);
    watch_computed(watch);
    rank_digits(own, rank);
    count_by_rank(own, rank, block, to);
    room = exchange_keys(sorted, to);
    watch_communicated(watch);
    sort_by_digit(room.at, keys->at, room.n, which);
    free(room.at);
    free(sorted);
}

static void sort_bulk(struct keys *keys, long total, struct watch *watch)
{
    long *to = allocate(PROCS * sizeof *to);

    for (int which = 0; which < DIGITS; which++)
        pass_bulk(keys, which, block_length(total), to, watch);
    free(to);
    watch_computed(watch);
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    if (variant == SMALL)
        sort_small(keys, total, watch);
    else
        sort_bulk(keys, total, watch);
}
