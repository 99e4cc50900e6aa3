/* SPDX-License-Identifier: BSD-3-Clause */
#include "components.h"

#include "random.h"
#include <stdlib.h>

/* The root of a tree; every second vertex on the way is moved up. */
static long find(long *parent, long i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The smaller root becomes that of both. */
static void unite(long *parent, long i, long j)
{
    i = find(parent, i);
    j = find(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
}

long local_components(long first, long n, struct graph *graph, long *label)
{
    long across = 0;

    for (long i = 0; i < n; i++)
        label[i] = i;
    for (long e = 0; e < graph->edges; e++) {
        struct edge edge = graph->edge[e];

        if (edge.v >= first && edge.v < first + n)
            unite(label, edge.u - first, edge.v - first);
        else
            graph->edge[across++] = edge;
    }
    for (long i = 0; i < n; i++) /* a parent comes before its children */
        label[i] = label[i] == i ? first + i : label[label[i]];
    for (long e = 0; e < across; e++)
        graph->edge[e].u = label[graph->edge[e].u - first];
    return across;
}

/* The place of an edge in a table of a power of two, which holds numbers of edges. */
static long place(const struct edge *edge, const long *table, long mask, struct edge wanted)
{
    long at = random_at(wanted.u, wanted.v) & mask;

    while (table[at] >= 0 && (edge[table[at]].u != wanted.u || edge[table[at]].v != wanted.v))
        at = (at + 1) & mask;
    return at;
}

long distinct_edges(struct edge *edge, long n)
{
    long size = 16, kept = 0, *table;

    while (size < 2 * n)
        size *= 2;
    table = allocate(size * sizeof *table);
    for (long i = 0; i < size; i++)
        table[i] = -1;
    for (long e = 0; e < n; e++) {
        struct edge up = edge[e].u > edge[e].v ? edge[e] : (struct edge){edge[e].v, edge[e].u};
        long at = place(edge, table, size - 1, up);

        if (table[at] < 0) {
            table[at] = kept;
            edge[kept++] = up;
        }
    }
    free(table);
    return kept;
}

long list_roots(const long *label, long first, long n, long *root)
{
    long roots = 0;

    for (long i = 0; i < n; i++)
        if (label[i] == first + i)
            root[roots++] = i;
    return roots;
}

long list_hanging(const long *parent, long first, const long *root, long n, long *hanging)
{
    long kept = 0;

    for (long i = 0; i < n; i++)
        if (parent[root[i]] != first + root[i])
            hanging[kept++] = root[i];
    return kept;
}
