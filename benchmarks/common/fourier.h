/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fourier.h - what the parallel part of the FFT supplies, and its local parts.
 */
#ifndef BENCHMARKS_FOURIER_H
#define BENCHMARKS_FOURIER_H

#include "common.h"

struct complex {
    double re, im;
};

/* rows x columns complex numbers of which each processor has its block of the rows. */
struct signal {
    long rows, columns; /* powers of two */
    struct complex *at;
};

/* Collective: the Fourier transform of a signal that is read row by row.  The result has
 * as many rows as this has columns; `spectrum` is this processor's block of them. */
void transform(const struct signal *signal, struct complex *spectrum, struct watch *watch);

/* The transform of each of `rows` rows of a length that is a power of two, in place. */
void transform_rows(struct complex *at, long rows, long length);

/* Multiply element (first + i, j) with exp(-2 pi sqrt(-1) (first + i) j / n). */
void twiddle_rows(struct complex *at, long first, long rows, long columns, long n);

/* Columns first to end - 1 of some rows, as rows. */
void turn_columns(const struct complex *at, long rows, long columns, long first, long end,
                  struct complex *to);

/* exp(-2 pi sqrt(-1) i / n) */
struct complex root_of_unity(unsigned long i, unsigned long n);

static inline struct complex times(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

#endif
