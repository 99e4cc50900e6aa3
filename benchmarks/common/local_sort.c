/* SPDX-License-Identifier: BSD-3-Clause */
#include "local_sort.h"

#include "common.h"
#include <stdlib.h>
#include <string.h>

void count_digits(const key *keys, long n, int which, long count[RADIX])
{
    memset(count, 0, RADIX * sizeof count[0]);
    for (long i = 0; i < n; i++)
        count[digit(keys[i], which)]++;
}

/* Counts become the place of the first of each; true when one digit has all. */
static int places(long count[RADIX], long n)
{
    long before = 0;

    for (int d = 0; d < RADIX; d++) {
        long here = count[d];

        if (here == n)
            return 1;
        count[d] = before;
        before += here;
    }
    return 0;
}

static void scatter(const key *from, key *to, long n, int which, long next[RADIX])
{
    for (long i = 0; i < n; i++)
        to[next[digit(from[i], which)]++] = from[i];
}

void sort_by_digit(const key *from, key *to, long n, int which)
{
    long next[RADIX];

    count_digits(from, n, which, next);
    if (places(next, n))
        memcpy(to, from, (size_t)n * sizeof(key));
    else
        scatter(from, to, n, which, next);
}

void sort_locally(struct keys *keys)
{
    key *spare = allocate((size_t)keys->n * sizeof(key));
    long next[RADIX];

    for (int which = 0; which < DIGITS; which++) {
        key *from = keys->at;

        count_digits(from, keys->n, which, next);
        if (places(next, keys->n))
            continue;
        scatter(from, spare, keys->n, which, next);
        keys->at = spare;
        spare = from;
    }
    free(spare);
}
