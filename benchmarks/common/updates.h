/* SPDX-License-Identifier: BSD-3-Clause
 *
 * updates.h - random updates of a table (GUPS).
 */
#ifndef BENCHMARKS_UPDATES_H
#define BENCHMARKS_UPDATES_H

#include "common.h"
#include "random.h"
#include <stdint.h>

/* A table of a power of two of numbers, of which each processor has its block. */
struct table {
    long log2; /* of the slots */
    long *at;  /* this processor's */
};

/* Those that one processor makes: either numbers first to first + n - 1 of a random
 * series, or keys. */
struct updates {
    long first, n;
    unsigned long seed;
    const uint32_t *key; /* NULL: random ones */
};

/* What is added, and, in its upper bits, to which slot. */
static inline unsigned long update_of(const struct updates *u, long i)
{
    return u->key ? random_at(u->seed, u->key[i]) : random_at(u->seed, u->first + i);
}

static inline long slot_of(const struct table *table, unsigned long update)
{
    return table->log2 > 0 ? (long)(update >> (64 - table->log2)) : 0;
}

/* Collective: add every processor's updates to the table, which is all zeros. */
void apply(struct table *table, const struct updates *updates, struct watch *watch);

#endif
