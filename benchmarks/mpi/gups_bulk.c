/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gups_bulk.c - random updates, sorted by their processors a portion at a time and sent
 * together: what MPI does better than gups.c.
 */
#include "exchange.h"
#include "team.h"
#include "updates.h"

#include <stdlib.h>
#include <string.h>

#define PORTION 1024 /* updates on their way from one processor, as HPC Challenge allows */

/* Updates from i on in the order of their processors; how many go to each. */
static void sort_portion(const struct table *table, const struct updates *u, long i, long end,
                         unsigned long *sorted, long *count)
{
    long block = block_length(1l << table->log2), *at = allocate(team_size() * sizeof *at);
    long owner[PORTION];

    memset(count, 0, team_size() * sizeof *count);
    for (long j = i; j < end; j++)
        count[owner[j - i] = slot_of(table, update_of(u, j)) / block]++;
    at[0] = 0;
    for (int q = 1; q < team_size(); q++)
        at[q] = at[q - 1] + count[q - 1];
    for (long j = i; j < end; j++)
        sorted[at[owner[j - i]]++] = update_of(u, j);
    free(at);
}

/* Collective: add what comes from all. */
static void add_portion(struct table *table, const unsigned long *sorted, const long *count)
{
    long first = team_rank() * block_length(1l << table->log2);
    struct exchange x = exchange_plan(count);
    unsigned long *update = allocate(x.in_all * sizeof *update);

    exchange_send(&x, sorted, update, sizeof *update);
    for (long i = 0; i < x.in_all; i++)
        table->at[slot_of(table, update[i]) - first] += (long)update[i];
    free(update);
    exchange_free(&x);
}

void apply(struct table *table, const struct updates *updates, struct watch *watch)
{
    long n = block_share(1l << table->log2, team_rank()), rounds = (long)team_max(updates->n);
    unsigned long *sorted = allocate(PORTION * sizeof *sorted);
    long *count = allocate(team_size() * sizeof *count);

    memset(table->at, 0, n * sizeof *table->at);
    watch_start(watch); /* all of the table is there */
    for (long i = 0; i < rounds; i += PORTION) {
        long begin = i < updates->n ? i : updates->n;
        long end = i + PORTION < updates->n ? i + PORTION : updates->n;

        progress("update", i, rounds);
        sort_portion(table, updates, begin, end, sorted, count);
        add_portion(table, sorted, count);
    }
    watch_communicated(watch);
    free(sorted);
    free(count);
}
