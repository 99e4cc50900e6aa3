/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ghosts.h - copies of those elements of a vector that others own.
 */
#ifndef BENCHMARKS_MPI_GHOSTS_H
#define BENCHMARKS_MPI_GHOSTS_H

#include "exchange.h"
#include "sparse.h"

#include <mpi.h>

struct ghosts {
    struct exchange x; /* what is asked of each processor, and by each */
    int *place;        /* of what others ask for, in this processor's block */
    double *packed;    /* what is sent to them */
    long own;
    MPI_Request *request; /* of each message, made once */
    int requests;
};

/* Collective: agree on who sends what.  `vector` has a matrix's own elements and, behind
 * them, its ghosts; `columns` is the length of the whole. */
struct ghosts ghosts_plan(const struct sparse *a, long columns, double *vector);

/* Collective: fill the ghosts in. */
void ghosts_fetch(struct ghosts *g, const double *vector);
void ghosts_free(struct ghosts *g);

#endif
