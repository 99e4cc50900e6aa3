/* SPDX-License-Identifier: BSD-3-Clause */
#include "block.h"

/* Four rows of y at a time: each element of c is then loaded and stored once
 * for four products, and the inner loop is one that compilers vectorise. */
static void add_four(int b, double *restrict c, const double *restrict x, const double *restrict y)
{
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];

    for (int j = 0; j < b; j++)
        c[j] += x0 * y[j] + x1 * y[b + j] + x2 * y[2 * b + j] + x3 * y[3 * b + j];
}

static void add_one(int b, double *restrict c, double x, const double *restrict y)
{
    for (int j = 0; j < b; j++)
        c[j] += x * y[j];
}

void block_multiply_add(int b, double *c, const double *x, const double *y)
{
    for (long i = 0; i < b; i++) {
        long k = 0;

        for (; k + 4 <= b; k += 4)
            add_four(b, c + i * b, x + i * b + k, y + k * b);
        for (; k < b; k++)
            add_one(b, c + i * b, x[i * b + k], y + k * b);
    }
}
