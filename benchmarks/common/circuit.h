/* SPDX-License-Identifier: BSD-3-Clause
 *
 * circuit.h - EM3D: electric and magnetic nodes, each of one kind changed by nodes of the
 * other.
 */
#ifndef BENCHMARKS_CIRCUIT_H
#define BENCHMARKS_CIRCUIT_H

#include "common.h"
#include "sparse.h"

/* The nodes of one kind. */
struct nodes {
    long n;             /* of all processors */
    struct sparse from; /* how much each node here takes from those of the other kind */
    double *value;      /* of each node here */
};

/* Collective: so many times, change the electric nodes by the magnetic ones, then these
 * by the electric ones: e -= E h, h -= H e. */
void propagate(struct nodes *electric, struct nodes *magnetic, long steps, struct watch *watch);

#endif
