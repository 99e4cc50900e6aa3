/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gups_bulk.sc - random updates, stored into their owners' mail a portion at a time; each
 * owner adds what has come.
 */
#include "updates.h"

#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

#define PORTION 1024 /* updates on their way from one processor, as HPC Challenge allows */

/* From one processor to another. */
struct mail {
    long n;
    unsigned long update[PORTION];
};

/* Collective: updates from i on go to their owners' mail. */
static void send_portion(const struct table *table, const struct updates *u, long i,
                         struct mail mail[PROCS]::[PROCS])
{
    long block = block_length(1l << table->log2), end = i + PORTION < u->n ? i + PORTION : u->n;
    long *sent = allocate(PROCS * sizeof *sent);

    memset(sent, 0, PROCS * sizeof *sent);
    for (; i < end; i++) {
        unsigned long update = update_of(u, i);
        long q = slot_of(table, update) / block;

        mail[q][MYPROC].update[sent[q]++] :- update;
    }
    for (long q = 0; q < PROCS; q++)
        mail[q][MYPROC].n :- sent[q];
    free(sent);
    all_store_sync();
}

static void add_portion(struct table *table, const struct mail *mail)
{
    long first = MYPROC * block_length(1l << table->log2);

    for (int p = 0; p < PROCS; p++)
        for (long i = 0; i < mail[p].n; i++)
            table->at[slot_of(table, mail[p].update[i]) - first] += (long)mail[p].update[i];
}

void apply(struct table *table, const struct updates *updates, struct watch *watch)
{
    long n = block_share(1l << table->log2, MYPROC);
    long rounds = ((long)all_reduce_to_all_dmax(updates->n) + PORTION - 1) / PORTION;
    struct mail even[PROCS]::[PROCS], odd[PROCS]::[PROCS]; /* some may be a round ahead */

    memset(table->at, 0, n * sizeof *table->at);
    watch_start(watch); /* all of the table is there */
    for (long round = 0; round < rounds; round++) {
        struct mail (*spread mail)[PROCS] = round % 2 ? odd : even;

        progress("round", round, rounds);
        send_portion(table, updates, round * PORTION, mail);
        add_portion(table, tolocal(mail[MYPROC]));
    }
    watch_communicated(watch);
}
