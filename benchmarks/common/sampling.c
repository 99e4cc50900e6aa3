/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling.h"

#include "common.h"
#include "team.h"
#include <stdlib.h>

/* ---- tags ------------------------------------------------------------------ */

/* A tag in 64 bits moves on by this from one key to the next. */
static unsigned long tag_step(long total)
{
    return ~0ul / (total > 0 ? total : 1);
}

static tagged tag(key k, unsigned long position)
{
    return (tagged)k << 32 | position >> 32;
}

/* ---- splitters ---------------------------------------------------------------------- */

int samples_each(void)
{
    int n = 65536 / team_size();

    return n < 32 ? 32 : n > 1024 ? 1024 : n;
}

void take_samples(const struct keys *keys, long total, tagged sample[], int n)
{
    unsigned long first = team_rank() * block_length(total);

    for (int i = 0; i < n; i++) {
        long at = keys->n > 0 ? random_at(first, i) % keys->n : 0;
        sample[i] = keys->n > 0 ? tag(keys->at[at], (first + at) * tag_step(total)) : ~0ul;
    }
}

static int compare_tagged(const void *a, const void *b)
{
    tagged x = *(const tagged *)a, y = *(const tagged *)b;

    return (x > y) - (x < y);
}

void choose_splitters(tagged all[], int n, tagged splitter[])
{
    qsort(all, (size_t)team_size() * n, sizeof *all, compare_tagged);
    splitter[0] = 0;
    for (long p = 1; p < team_size(); p++)
        splitter[p] = all[p * n];
}

/* ---- every key's processor -------------------------------------------------------- */

/* The last splitter that is not above it. */
static unsigned find(const tagged *splitter, unsigned n, tagged wanted)
{
    unsigned base = 0;

    while (n > 1) {
        unsigned half = n / 2;
        base = splitter[base + half] <= wanted ? base + half : base;
        n -= half;
    }
    return base;
}

void find_owners(const struct keys *keys, long total, const tagged splitter[], uint16_t owner[],
                 long count[])
{
    unsigned long step = tag_step(total);
    unsigned long position = team_rank() * block_length(total) * step;
    unsigned procs = team_size();

    for (unsigned q = 0; q < procs; q++)
        count[q] = 0;
    for (long i = 0; i < keys->n; i++, position += step) {
        owner[i] = find(splitter, procs, tag(keys->at[i], position));
        count[owner[i]]++;
    }
}

/* ---- in the order of their processors ------------------------------------------------ */

void presort(struct keys *keys, const uint16_t owner[], const long count[])
{
    key *sorted = allocate(keys->n * sizeof *sorted);
    long *next = allocate(team_size() * sizeof *next);

    next[0] = 0;
    for (int q = 1; q < team_size(); q++)
        next[q] = next[q - 1] + count[q - 1];
    for (long i = 0; i < keys->n; i++)
        sorted[next[owner[i]]++] = keys->at[i];
    free(next);
    free(keys->at);
    keys->at = sorted;
}
