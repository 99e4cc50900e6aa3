/* SPDX-License-Identifier: BSD-3-Clause
 *
 * local_sort.h - sorting within one processor, plain C.
 */
#ifndef BENCHMARKS_LOCAL_SORT_H
#define BENCHMARKS_LOCAL_SORT_H

#include "keys.h"

/* Keys are sorted a digit at a time, the lowest first. */
#define DIGIT_BITS 11
#define RADIX (1 << DIGIT_BITS)
#define DIGITS 3 /* of a 32-bit key */

static inline unsigned digit(key k, int which)
{
    return k >> which * DIGIT_BITS & (RADIX - 1);
}

/* How many of n keys have each value of a digit. */
void count_digits(const key *keys, long n, int which, long count[RADIX]);

/* Copy n keys from one place to another in the order of a digit, keeping the
 * order of those that are equal in it. */
void sort_by_digit(const key *from, key *to, long n, int which);

/* Sort the keys.  `keys->at` may be another piece of memory afterwards. */
void sort_locally(struct keys *keys);

#endif
