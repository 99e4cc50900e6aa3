/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rows.h - .npy files of doubles, each processor its block of the rows.
 */
#ifndef BENCHMARKS_ROWS_H
#define BENCHMARKS_ROWS_H

#include "npy.h"

/* Collective: how large the matrix in a file is.  What is wrong ends the program. */
struct npy rows_shape(const char *file);

/* Collective: rows first to first + n - 1; from malloc.  All elements are finite. */
double *rows_read(const char *file, const struct npy *shape, long first, long n);

/* Collective: write a matrix of which each processor has n rows from `first` on. */
void rows_write(const char *file, const double *at, long first, long n, long rows, long columns);

#endif
