/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ssort.sc - sample sort: splitters from a sample of the keys, every key to the
 * processor that they name, then a sort within each.
 *
 * Keys that are equal are told apart by where they stood, so that even a
 * million copies of one key are shared out evenly.
 */
#include "exchange.h"
#include "local_sort.h"
#include "sort.h"

#include <split-c/split-c.h>
#include <stdlib.h>

const char sort_summary[] = "Sample sort of 32-bit keys.";

/* A key above, the fraction of all keys that stood before it below. */
typedef unsigned long tagged;

static tagged splitters[PROCS]::[PROCS]; /* each processor's copy; the first is 0 */

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

/* ---- splitters ----------------------------------------------------------------- */

static int samples_each(void)
{
    int n = 65536 / PROCS;

    return n < 32 ? 32 : n > 1024 ? 1024 : n;
}

static void take_samples(const struct keys *keys, long total, tagged sample[], int n)
{
    unsigned long first = MYPROC * block_length(total);

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

/* Processor 0: gather the samples, sort them, and send the splitters to all. */
static void send_splitters(int n, tagged sample[PROCS]::[n])
{
    tagged *all = allocate(PROCS * n * sizeof *all);
    tagged *chosen = allocate(PROCS * sizeof *chosen);

    for (long p = 0; p < PROCS; p++)
        bulk_get(all + p * n, &sample[p][0], n * sizeof *all);
    sync();
    qsort(all, (size_t)PROCS * n, sizeof *all, compare_tagged);
    chosen[0] = 0;
    for (long p = 1; p < PROCS; p++)
        chosen[p] = all[p * n];
    for (int p = 0; p < PROCS; p++)
        bulk_store(&splitters[p][0], chosen, PROCS * sizeof *chosen);
    free(chosen);
    free(all);
}

static void agree_on_splitters(const struct keys *keys, long total)
{
    int n = samples_each();
    tagged sample[PROCS]::[n];

    take_samples(keys, total, tolocal(sample[MYPROC]), n);
    barrier();
    on_one send_splitters(n, sample);
    all_store_sync();
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

static void find_owners(const struct keys *keys, long total, uint16_t owner[], long count[])
{
    const tagged *splitter = tolocal(splitters[MYPROC]);
    unsigned long step = tag_step(total);
    unsigned long position = MYPROC * block_length(total) * step;
    unsigned procs = PROCS;

    for (unsigned q = 0; q < procs; q++)
        count[q] = 0;
    for (long i = 0; i < keys->n; i++, position += step) {
        owner[i] = find(splitter, procs, tag(keys->at[i], position));
        count[owner[i]]++;
    }
}

/* ---- the two ways to get there ----------------------------------------------------- */

/* Each processor's next key waits here until another makes a pair with it. */
struct waiting {
    key first;
    int is;
};

static void send_pairs(const struct keys *keys, const uint16_t owner[], key *global place[])
{
    struct waiting *waiting = allocate(PROCS * sizeof *waiting);

    for (int q = 0; q < PROCS; q++)
        waiting[q].is = 0;
    for (long i = 0; i < keys->n; i++) {
        int q = owner[i];

        if (waiting[q].is) {
            struct pair pair = {waiting[q].first, keys->at[i]};
            *(struct pair *global)place[q] :- pair;
            place[q] += 2;
        } else {
            waiting[q].first = keys->at[i];
        }
        waiting[q].is = !waiting[q].is;
    }
    for (int q = 0; q < PROCS; q++)
        if (waiting[q].is)
            *place[q] :- waiting[q].first;
    all_store_sync();
    free(waiting);
}

/* The keys in the order of their processors. */
static key *presort(const struct keys *keys, const uint16_t owner[], const long count[])
{
    key *sorted = allocate(keys->n * sizeof *sorted);
    long *next = run_starts(count);

    for (long i = 0; i < keys->n; i++)
        sorted[next[owner[i]]++] = keys->at[i];
    free(next);
    return sorted;
}

static void send_to_owners(const struct keys *keys, const uint16_t owner[], const long count[],
                           enum variant variant, struct keys *room, struct watch *watch)
{
    key *sorted = variant == BULK ? presort(keys, owner, count) : NULL;
    key *global *place;

    watch_computed(watch);
    place = make_room(count, room);
    if (variant == BULK)
        send_runs(sorted, count, place);
    else
        send_pairs(keys, owner, place);
    watch_communicated(watch);
    free(sorted);
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    uint16_t *owner = allocate(keys->n * sizeof *owner);
    long *count = allocate(PROCS * sizeof *count);
    struct keys room;

    agree_on_splitters(keys, total);
    watch_communicated(watch);
    find_owners(keys, total, owner, count);
    send_to_owners(keys, owner, count, variant, &room, watch);
    free(count);
    free(owner);
    free(keys->at);
    *keys = room;
    sort_locally(keys);
    watch_computed(watch);
}
