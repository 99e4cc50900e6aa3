/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keys.h - the keys that the sorts sort: where they come from, where they go,
 * and whether they are in order.
 *
 * N keys are numbered 0 to N-1 and lie in blocks (common.h).
 */
#ifndef BENCHMARKS_KEYS_H
#define BENCHMARKS_KEYS_H

#include "random.h"

#include <stdint.h>

typedef uint32_t key;

/* One processor's keys. */
struct keys {
    key *at; /* from malloc */
    long n;
};

/* What a set of keys looks like, whatever its order; two sets that look the
 * same are the same, but for an accident of 1 in 2^64. */
struct fingerprint {
    unsigned long sum;
    unsigned long mixed;
};

/* Collective: this processor's block of random keys, the same whole for any
 * number of processors. */
struct keys make_keys(long total, unsigned long seed);

/* Collective: this processor's block of a file of little-endian keys. */
struct keys read_keys(const char *file, long *total);

/* Collective: write every processor's keys one behind the other. */
void write_keys(const char *file, const struct keys *keys, long total);

struct fingerprint fingerprint_keys(const struct keys *keys);

/* Collective: true, on all, when the keys are in order from processor to
 * processor and are those whose fingerprint each processor took before. */
int check_keys(const struct keys *keys, struct fingerprint before);

#endif
