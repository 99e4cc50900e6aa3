/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ssort.sc - sample sort: splitters from a sample of the keys, every key to the
 * processor that they name, then a sort within each.
 */
#include "exchange.h"
#include "local_sort.h"
#include "sampling.h"
#include "sort.h"

#include <split-c/collective.h>
#include <split-c/split-c.h>
#include <stdlib.h>

const char sort_summary[] = "Sample sort of 32-bit keys.";

/* Collective: the splitters, everywhere; from malloc. */
static tagged *agree_on_splitters(const struct keys *keys, long total)
{
    int n = samples_each();
    tagged *sample = allocate(n * sizeof *sample);
    tagged *all = allocate(PROCS * n * sizeof *all);
    tagged *splitter = allocate(PROCS * sizeof *splitter);

    take_samples(keys, total, sample, n);
    team_gather(TEAM_ALL, all, sample, n, 0);
    on_one choose_splitters(all, n, splitter);
    team_broadcast(TEAM_ALL, splitter, PROCS, 0);
    free(all);
    free(sample);
    return splitter;
}

/* ---- the two ways to get there ----------------------------------------------------- */

/* Each processor's next key waits here until another makes a pair with it. */
struct waiting {
    key first;
    int is;
};

static struct keys send_pairs(const struct keys *keys, const uint16_t owner[], const long count[])
{
    struct waiting *waiting = allocate(PROCS * sizeof *waiting);
    struct exchange x = exchange_plan(count);
    struct keys room = exchange_room(&x);
    key *global *place = exchange_places(&x, &room);

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
    free(place);
    exchange_free(&x);
    free(waiting);
    return room;
}

void sort_keys(struct keys *keys, long total, enum variant variant, struct watch *watch)
{
    uint16_t *owner = allocate(keys->n * sizeof *owner);
    long *count = allocate(PROCS * sizeof *count);
    tagged *splitter = agree_on_splitters(keys, total);
    struct keys room;

    watch_communicated(watch);
    find_owners(keys, total, splitter, owner, count);
    if (variant == BULK)
        presort(keys, owner, count);
    watch_computed(watch);
    room = variant == BULK ? exchange_keys(keys->at, count) : send_pairs(keys, owner, count);
    watch_communicated(watch);
    free(splitter);
    free(count);
    free(owner);
    free(keys->at);
    *keys = room;
    sort_locally(keys);
    watch_computed(watch);
}
