/* SPDX-License-Identifier: BSD-3-Clause
 *
 * solve.h - what the parallel part of the conjugate gradients supplies, and its local
 * operations on vectors.
 */
#ifndef BENCHMARKS_SOLVE_H
#define BENCHMARKS_SOLVE_H

#include "common.h"
#include "sparse.h"

/* A x = b, of which each processor has its block of the rows. */
struct system {
    long n; /* unknowns, of all processors */
    struct sparse a;
    double *b;
    double *x;        /* the solution, once it is found */
    double reduction; /* of the residual, to be reached */
    long limit;       /* of the iterations */
    double residual;  /* |b - A x| / |b|, as the iteration has it */
};

/* Collective: conjugate gradients from x = 0.  Returns the number of iterations.  Ends the
 * program if the matrix is not positive definite. */
long solve(struct system *system, struct watch *watch);

static inline double dot(long n, const double *x, const double *y)
{
    double sum = 0;

    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* y += s x */
static inline void add_scaled(long n, double *y, double s, const double *x)
{
    for (long i = 0; i < n; i++)
        y[i] += s * x[i];
}

/* y = x + s y */
static inline void scale_add(long n, double *y, double s, const double *x)
{
    for (long i = 0; i < n; i++)
        y[i] = x[i] + s * y[i];
}

/* Collective: a curvature that is not positive ends the program. */
static inline void require_positive(double curvature)
{
    if (!(curvature > 0))
        all_quit(1, "the matrix is not positive definite: conjugate gradients need that");
}

#endif
