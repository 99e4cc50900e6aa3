/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ghosts.h - copies of those elements of a vector that others own.  In the beginning each
 * processor tells the owners where its copies are; whoever has changed its elements stores
 * them there, without waiting.
 */
#ifndef BENCHMARKS_SPLITC_GHOSTS_H
#define BENCHMARKS_SPLITC_GHOSTS_H

#include "sparse.h"

/* A run of this processor's elements that another one has copies of. */
struct copy {
    long place, n;
    double *global to;
};

/* The runs that one processor has copies of, where they lie one behind the other. */
struct bundle {
    const struct copy *first, *end;
    long n;         /* elements */
    double *packed; /* room for them to go together; NULL: each run is stored for itself */
    int *place;     /* where each of them lies, if they go together */
};

struct ghosts {
    const double *own;
    struct copy *copy;
    struct bundle *bundle;
    int bundles;
    long bytes; /* that others store here each time */
};

/* Collective: agree on who stores what.  `vector` has a matrix's own elements and, behind
 * them, its ghosts. */
struct ghosts ghosts_plan(const struct sparse *a, double *vector);

/* Store what others need of this processor's elements; it is there after all_store_sync(), or
 * for who waits with store_sync() for the bytes that it gets. */
void ghosts_send(const struct ghosts *g);
void ghosts_free(struct ghosts *g);

#endif
