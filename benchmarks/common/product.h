/* SPDX-License-Identifier: BSD-3-Clause
 *
 * product.h - matrices in blocks, and what the parallel part of their multiplication
 * supplies.
 */
#ifndef BENCHMARKS_PRODUCT_H
#define BENCHMARKS_PRODUCT_H

#include "common.h"

/* A matrix of rows x columns blocks of b x b doubles, dealt to the processors in turn: the
 * one at (i, j) is number L = i * columns + j, on processor L % size, the L / size th. */
struct blocks {
    int rows, columns, b;
    double *mine; /* this processor's, one behind the other */
    void *shared; /* how the others reach them; the parallel part's */
};

/* Collective: room for them. */
void blocks_allocate(struct blocks *m);
void blocks_free(struct blocks *m);

/* Collective: C += A B. */
void multiply(const struct blocks *a, const struct blocks *b, struct blocks *c,
              struct watch *watch);

/* One product of two blocks on the way to block (i, j) of C: step s of this processor,
 * which makes its blocks of C one after the other. */
struct step {
    int i, j, k;
};

struct step step_at(long s, int inner, int columns);
long steps_here(int rows, int inner, int columns);

#endif
