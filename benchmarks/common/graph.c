/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph.h"

#include "common.h"
#include "mtx.h"
#include "pgm.h"
#include "random.h"
#include <stdlib.h>

#define MAX_VERTEX ((1l << 48) - 1)

/* A graph under construction. */
struct collector {
    struct graph graph;
    long room;
    long first, end;
};

static void collect(struct collector *c, long u, long v)
{
    struct graph *g = &c->graph;

    if (u < c->first || u >= c->end)
        return;
    if (g->edges == c->room) {
        c->room = c->room ? 2 * c->room : 1024;
        g->edge = reallocate(g->edge, c->room * sizeof *g->edge);
    }
    g->edge[g->edges++] = (struct edge){u, v};
}

/* ---- files ----------------------------------------------------------------------------- */

/* Pairs of vertices, one a line; more columns, such as weights, are ignored.  Returns the
 * highest vertex, or -1. */
static long read_pairs(const char *file, struct collector *c)
{
    struct text text = text_open(file);
    long highest = -1;

    while (text_next_line(&text, "#%")) {
        long u = text_integer(&text, "the first vertex", 0, MAX_VERTEX);
        long v = text_integer(&text, "the second vertex", 0, MAX_VERTEX);

        highest = u > highest ? u : highest;
        highest = v > highest ? v : highest;
        if (c)
            collect(c, u, v);
    }
    text_close(&text);
    return highest;
}

static struct mtx open_square(const char *file)
{
    struct mtx mtx = mtx_open(file);

    if (mtx.rows != mtx.columns)
        text_fail(&mtx.text, "the matrix of a graph is square, not %ld x %ld", mtx.rows,
                  mtx.columns);
    return mtx;
}

static void read_matrix(const char *file, struct collector *c)
{
    struct mtx mtx = open_square(file);
    struct entry entry;

    while (mtx_next(&mtx, &entry))
        collect(c, entry.row, entry.column);
    mtx_close(&mtx);
}

static void read_image(const char *file, struct collector *c)
{
    struct pgm pgm = pgm_read(file);

    for (long y = 0; y < pgm.height; y++)
        for (long x = 0; x < pgm.width; x++) {
            long at = y * pgm.width + x;

            if (x + 1 < pgm.width && pgm.grey[at] == pgm.grey[at + 1])
                collect(c, at, at + 1);
            if (y + 1 < pgm.height && pgm.grey[at] == pgm.grey[at + pgm.width])
                collect(c, at, at + pgm.width);
        }
    free(pgm.grey);
}

/* ---- made up ------------------------------------------------------------------------------ */

static void make_random(const struct graph_source *s, struct collector *c)
{
    for (long u = c->first; u < c->end; u++)
        for (long i = 0; i < s->degree; i++)
            collect(c, u, (long)(random_at(s->seed, u * s->degree + i) % s->random));
}

static int is_there(const struct graph_source *s, long number)
{
    return (long)(random_at(s->seed, number) % 100) < s->percent;
}

static void make_grid(const struct graph_source *s, struct collector *c)
{
    for (long at = c->first; at < c->end; at++) {
        if ((at + 1) % s->grid != 0 && is_there(s, 2 * at))
            collect(c, at, at + 1);
        if (at + s->grid < s->grid * s->grid && is_there(s, 2 * at + 1))
            collect(c, at, at + s->grid);
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

long graph_vertices(const struct graph_source *source)
{
    long vertices;

    if (source->edges)
        return read_pairs(source->edges, NULL) + 1;
    if (source->matrix) {
        struct mtx mtx = open_square(source->matrix);

        vertices = mtx.rows;
        mtx_close(&mtx);
        return vertices;
    }
    if (source->image) {
        struct pgm pgm = pgm_read(source->image);

        vertices = pgm.width * pgm.height;
        free(pgm.grey);
        return vertices;
    }
    return source->random ? source->random : source->grid * source->grid;
}

struct graph graph_load(const struct graph_source *source, long vertices, long first, long end)
{
    struct collector c = {.graph.vertices = vertices, .first = first, .end = end};

    if (source->edges)
        read_pairs(source->edges, &c);
    else if (source->matrix)
        read_matrix(source->matrix, &c);
    else if (source->image)
        read_image(source->image, &c);
    else if (source->random)
        make_random(source, &c);
    else
        make_grid(source, &c);
    return c.graph;
}
