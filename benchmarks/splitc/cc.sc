/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cc.sc - connected components: each processor finds those of its own vertices; then
 * all of them hook components to one another, and shorten the paths that this makes.
 */
#include "components.h"
#include "team.h"

#include <split-c/split-c.h>
#include <stdlib.h>

/* What hangs below what: a component is named by its smallest vertex, v, and hangs below
 * the component parent[v / block][v % block], a smaller one, or itself. */
#define PARENT(v) parent[(v) / block][(v) % block]

/* ---- one round ---------------------------------------------------------------------------- */

/* The two ends of every edge are roots: the greater one goes below the smaller one.
 * Of several that write the same parent, any may win; the rest try again. */
static void hook(const struct edge *edge, long n, long block, long parent[PROCS]::[block])
{
    for (long e = 0; e < n; e++)
        PARENT(edge[e].u) :- edge[e].v;
    all_store_sync();
}

/* Until every component here hangs directly below a root, it moves up to its
 * grandparent. */
static void shorten(const long *root, long n, long block, long parent[PROCS]::[block])
{
    long *own = tolocal(parent[MYPROC]), *hanging = allocate(n * sizeof *hanging);
    long *above;
    int moved;

    n = list_hanging(own, MYPROC * block, root, n, hanging);
    above = allocate(n * sizeof *above);
    do {
        moved = 0;
        for (long i = 0; i < n; i++)
            above[i] := PARENT(own[hanging[i]]);
        sync();
        for (long i = 0; i < n; i++) {
            moved |= own[hanging[i]] != above[i];
            own[hanging[i]] = above[i];
        }
    } while (all_reduce_to_all_max(moved));
    free(above);
    free(hanging);
}

/* The edges between the components' roots; returns how many remain. */
static long contract(struct edge *edge, long n, long block, long parent[PROCS]::[block])
{
    long kept = 0;

    for (long e = 0; e < n; e++) {
        edge[e].u := PARENT(edge[e].u);
        edge[e].v := PARENT(edge[e].v);
    }
    sync();
    for (long e = 0; e < n; e++)
        if (edge[e].u != edge[e].v)
            edge[kept++] = edge[e];
    return distinct_edges(edge, kept);
}

/* ---- all rounds ----------------------------------------------------------------------------- */

int find_components(struct graph *graph, long *label, struct watch *watch)
{
    long block = block_length(graph->vertices), n = block_share(graph->vertices, MYPROC);
    long first = MYPROC * block, edges, roots, *root = allocate(n * sizeof *root);
    long parent[PROCS]::[block];
    long *own = tolocal(parent[MYPROC]);
    int rounds = 0;

    edges = local_components(first, n, graph, own);
    roots = list_roots(own, first, n, root);
    for (long i = 0; i < n; i++)
        label[i] = own[i];
    watch_computed(watch);

    barrier();
    edges = contract(graph->edge, edges, block, parent);
    while (all_reduce_to_all_max(edges > 0)) {
        progress("round", rounds, rounds + 1);
        hook(graph->edge, edges, block, parent);
        shorten(root, roots, block, parent);
        edges = contract(graph->edge, edges, block, parent);
        rounds++;
    }
    watch_communicated(watch);

    for (long i = 0; i < n; i++)
        label[i] = own[label[i] - first];
    free(root);
    watch_computed(watch);
    return rounds;
}
