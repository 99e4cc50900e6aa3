/* SPDX-License-Identifier: BSD-3-Clause
 *
 * graph.h - undirected graphs, from files or made up.
 */
#ifndef BENCHMARKS_GRAPH_H
#define BENCHMARKS_GRAPH_H

struct edge {
    long u, v;
};

/* Where a graph comes from. */
struct graph_source {
    const char *edges;  /* a file of pairs of vertices, counted from 0 */
    const char *matrix; /* a Matrix Market file, square: the places of its entries */
    const char *image;  /* a PGM image: neighbouring pixels of the same grey */
    long random;        /* that many vertices, `degree` edges from each to anywhere */
    long degree;
    long grid;    /* grid x grid vertices, each edge of the grid there ... */
    long percent; /* ... with this probability */
    long seed;
};

/* Those edges u - v of a graph whose first vertex is in [first, end). */
struct graph {
    long vertices; /* of the whole graph */
    long edges;
    struct edge *edge; /* from malloc */
};

/* How many vertices there are.  Collective, as every processor reads the file. */
long graph_vertices(const struct graph_source *source);

/* The edges from a range of vertices.  What is wrong in a file ends the program. */
struct graph graph_load(const struct graph_source *source, long vertices, long first, long end);

#endif
