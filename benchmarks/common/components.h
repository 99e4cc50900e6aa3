/* SPDX-License-Identifier: BSD-3-Clause
 *
 * components.h - the parts of the connected components that one processor does by itself,
 * and what the parallel part does for the main program.
 */
#ifndef BENCHMARKS_COMPONENTS_H
#define BENCHMARKS_COMPONENTS_H

#include "common.h"
#include "graph.h"

/* The components of the vertices first .. first + n - 1 and of the edges between them:
 * label[i] gets the smallest vertex of that of first + i.  The edges that remain, from
 * these vertices to others, are moved to the front, as edges from the components'
 * labels; returns how many there are. */
long local_components(long first, long n, struct graph *graph, long *label);

/* Which of the vertices name a component; returns how many. */
long list_roots(const long *label, long first, long n, long *root);

/* Which of n roots hang below another by now; returns how many.  The others cannot move up. */
long list_hanging(const long *parent, long first, const long *root, long n, long *hanging);

/* Drop edges that are there twice, whichever way round; returns how many remain. */
long distinct_edges(struct edge *edge, long n);

/* Collective, the parallel part: label[i] gets the smallest vertex of the component of this
 * processor's vertex i.  `graph` has the edges from its vertices, and is used up.  Returns
 * how many rounds it took. */
int find_components(struct graph *graph, long *label, struct watch *watch);

#endif
