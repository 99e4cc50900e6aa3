/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sampling.h - the parts of a sample sort that a processor does by itself.
 *
 * Keys that are equal are told apart by where they stood, so that even a
 * million copies of one key are shared out evenly.
 */
#ifndef BENCHMARKS_SAMPLING_H
#define BENCHMARKS_SAMPLING_H

#include "keys.h"

/* A key above, the fraction of all keys that stood before it below. */
typedef unsigned long tagged;

/* How many samples each processor takes; take them. */
int samples_each(void);
void take_samples(const struct keys *keys, long total, tagged sample[], int n);

/* From the samples of all processors, which it sorts: a processor's keys are not below its
 * splitter; the first one is 0. */
void choose_splitters(tagged all[], int n, tagged splitter[]);

/* Which processor each key goes to, and how many go to each. */
void find_owners(const struct keys *keys, long total, const tagged splitter[], uint16_t owner[],
                 long count[]);

/* Put the keys into the order of their processors.  They then lie elsewhere, and where they were
 * there is room for those that arrive: memory that nobody has touched costs more than a pass. */
void presort(struct keys *keys, const uint16_t owner[], const long count[]);

#endif
