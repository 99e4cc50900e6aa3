/* SPDX-License-Identifier: BSD-3-Clause
 *
 * relax.h - the five-point stencil: what the parallel part supplies, and its local part.
 */
#ifndef BENCHMARKS_RELAX_H
#define BENCHMARKS_RELAX_H

#include "common.h"

/* A grid of which each processor has its block of the rows.  The border is fixed. */
struct grid {
    long rows, columns;
    double *at; /* this processor's rows, one behind the other */
};

/* Collective: so many times, every point within the border becomes the mean of its four
 * neighbours. */
void relax(struct grid *grid, long steps, struct watch *watch);

/* One row, from it and those above and below. */
static inline void relax_row(long columns, const double *restrict above, const double *restrict row,
                             const double *restrict below, double *restrict to)
{
    to[0] = row[0];
    for (long c = 1; c < columns - 1; c++)
        to[c] = 0.25 * (above[c] + below[c] + (row[c - 1] + row[c + 1]));
    to[columns - 1] = row[columns - 1];
}

#endif
