/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sparse.h - the rows of a sparse matrix that one processor has, ready to be multiplied
 * with a vector: its own block of that, followed by the ghosts, copies of those elements
 * of other processors that its rows need.
 */
#ifndef BENCHMARKS_SPARSE_H
#define BENCHMARKS_SPARSE_H

#include "mtx.h"

/* Entries in any order, while a matrix is made. */
struct entries {
    struct entry *at; /* from malloc */
    long n, room;
};

void add_entry(struct entries *entries, long row, long column, double value);

/* Ghosts that lie one behind the other at their processor. */
struct run {
    int processor;
    long place; /* of the first one, in that processor's block */
    long n;
};

struct sparse {
    long rows; /* here */
    long own;  /* elements of the vector that are here */
    long entries;
    long *start;   /* of each row's entries, and where the last ends */
    int *column;   /* of each entry: below `own`, or own + ghost */
    double *value; /* of each entry */
    long ghosts;
    long *ghost; /* their numbers in the whole vector, ascending */
    long runs;
    struct run *run; /* all ghosts, in the same order */
};

/* Of entries whose rows are those of this processor's block of `rows`; `columns` is the
 * length of the vector.  Uses the entries up. */
struct sparse sparse_make(struct entries *entries, long rows, long columns);
void sparse_free(struct sparse *a);

/* y = A x and y -= A x, with the ghosts behind the own part of x. */
void sparse_multiply(const struct sparse *a, const double *x, double *y);
void sparse_subtract(const struct sparse *a, const double *x, double *y);

#endif
