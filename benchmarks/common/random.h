/* SPDX-License-Identifier: BSD-3-Clause
 *
 * random.h - random numbers that do not depend on who makes them.
 */
#ifndef BENCHMARKS_RANDOM_H
#define BENCHMARKS_RANDOM_H

/* The i-th number of the series that begins at the seed. */
unsigned long random_at(unsigned long seed, unsigned long i);

/* The same, in [-1, 1). */
double random_real(unsigned long seed, unsigned long i);

#endif
