/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ssort.sc - sample sort: splitters from a sample of the keys, every key to the
 * processor that they name, then a sort within each.
 */
#include "exchange.h"
#include "local_sort.h"
#include "sampling.h"
#include "sort.h"

#include <split-c/split-c.h>
#include <stdlib.h>

const char sort_summary[] = "Sample sort of 32-bit keys.";

static tagged splitters[PROCS]::[PROCS]; /* each processor's copy; the first is 0 */

/* ---- splitters ----------------------------------------------------------------- */

/* Processor 0: gather the samples, sort them, and send the splitters to all. */
static void send_splitters(int n, tagged sample[PROCS]::[n])
{
    tagged *all = allocate(PROCS * n * sizeof *all);
    tagged *chosen = allocate(PROCS * sizeof *chosen);

    for (long p = 0; p < PROCS; p++)
        bulk_get(all + p * n, &sample[p][0], n * sizeof *all);
    sync();
    choose_splitters(all, n, chosen);
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

static void send_to_owners(struct keys *keys, const uint16_t owner[], const long count[],
                           enum variant variant, struct keys *room, struct watch *watch)
{
    key *global *place;

    if (variant == BULK)
        presort(keys, owner, count);
    watch_computed(watch);
    place = make_room(count, room);
    if (variant == BULK)
        send_runs(keys->at, count, place);
    else
        send_pairs(keys, owner, place);
    watch_communicated(watch);
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    uint16_t *owner = allocate(keys->n * sizeof *owner);
    long *count = allocate(PROCS * sizeof *count);
    struct keys room;

    agree_on_splitters(keys, total);
    watch_communicated(watch);
    find_owners(keys, total, tolocal(splitters[MYPROC]), owner, count);
    send_to_owners(keys, owner, count, variant, &room, watch);
    free(count);
    free(owner);
    free(keys->at);
    *keys = room;
    sort_locally(keys);
    watch_computed(watch);
}
