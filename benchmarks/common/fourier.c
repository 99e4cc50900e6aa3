/* SPDX-License-Identifier: BSD-3-Clause */
#include "fourier.h"

#include <math.h>
#include <stdlib.h>

struct complex root_of_unity(unsigned long i, unsigned long n)
{
    double angle = -2 * M_PI * ((double)i / (double)n);

    return (struct complex){cos(angle), sin(angle)};
}

/* ---- one row ----------------------------------------------------------------------------- */

static void swap_reversed(struct complex *at, long length)
{
    for (long i = 1, j = 0; i < length; i++) {
        long bit = length / 2;

        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            struct complex swap = at[i];

            at[i] = at[j];
            at[j] = swap;
        }
    }
}

/* The transforms of two halves become that of the whole. */
static void join_halves(struct complex *restrict low, struct complex *restrict high, long half,
                        const struct complex *restrict root, long stride)
{
    for (long i = 0; i < half; i++) {
        struct complex a = low[i], b = times(high[i], root[i * stride]);

        low[i] = (struct complex){a.re + b.re, a.im + b.im};
        high[i] = (struct complex){a.re - b.re, a.im - b.im};
    }
}

static void transform_row(struct complex *at, long length, const struct complex *root)
{
    swap_reversed(at, length);
    for (long half = 1; half < length; half *= 2)
        for (long i = 0; i < length; i += 2 * half)
            join_halves(at + i, at + i + half, half, root, length / 2 / half);
}

void transform_rows(struct complex *at, long rows, long length)
{
    struct complex *root = allocate(length / 2 * sizeof *root);

    for (long i = 0; i < length / 2; i++)
        root[i] = root_of_unity(i, length);
    for (long r = 0; r < rows; r++)
        transform_row(at + r * length, length, root);
    free(root);
}

/* ---- between the transforms ----------------------------------------------------------------- */

/* A power of two that is near enough for steps of the root to stay exact. */
#define RESTART 32

void twiddle_rows(struct complex *at, long first, long rows, long columns, long n)
{
    for (long r = 0; r < rows; r++) {
        struct complex step = root_of_unity(first + r, n), factor = {1, 0};

        for (long c = 0; c < columns; c++) {
            if (c % RESTART == 0)
                factor = root_of_unity((unsigned long)(first + r) * c % n, n);
            at[r * columns + c] = times(at[r * columns + c], factor);
            factor = times(factor, step);
        }
    }
}

#define TILE 16 /* rows and columns that fit into the cache together */

void turn_columns(const struct complex *at, long rows, long columns, long first, long end,
                  struct complex *to)
{
    for (long c0 = first; c0 < end; c0 += TILE)
        for (long r0 = 0; r0 < rows; r0 += TILE)
            for (long c = c0; c < c0 + TILE && c < end; c++)
                for (long r = r0; r < r0 + TILE && r < rows; r++)
                    to[(c - first) * rows + r] = at[r * columns + c];
}
