/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gups.sc - random updates: each is one fetch_add, wherever the number is.
 */
#include "updates.h"

#include <split-c/split-c.h>
#include <string.h>

#define PORTION 65536 /* updates between two looks at the clock */

void apply(struct table *table, const struct updates *updates, struct watch *watch)
{
    long block = block_length(1l << table->log2), n = block_share(1l << table->log2, MYPROC);
    long number[PROCS]::[block], *own = tolocal(number[MYPROC]);

    memset(own, 0, block * sizeof *own);
    watch_start(watch); /* all of the table is there */
    for (long i = 0; i < updates->n; i++) {
        unsigned long update = update_of(updates, i);
        long slot = slot_of(table, update);

        if (i % PORTION == 0)
            progress("update", i, updates->n);
        fetch_add_l(&number[slot / block][slot % block], update);
    }
    barrier();
    memcpy(table->at, own, n * sizeof *own);
    watch_communicated(watch);
}
