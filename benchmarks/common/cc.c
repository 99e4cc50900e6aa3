/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cc.c - the main program of the connected components.
 */
#include "common.h"
#include "components.h"
#include "graph.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct graph_source source;
    const char *output;
} given = {.source = {.degree = 2, .percent = 60, .seed = 1}};

static const struct option_entry options[] = {
    {"edges", OPTION_TEXT, &given.source.edges, "FILE", "a file of pairs of vertices, from 0 on"},
    {"matrix", OPTION_TEXT, &given.source.matrix, "FILE", "a Matrix Market file: its entries"},
    {"image", OPTION_TEXT, &given.source.image, "FILE", "a PGM image: pixels of the same grey"},
    {"random", OPTION_NUMBER, &given.source.random, "N", "a random graph of N vertices"},
    {"degree", OPTION_NUMBER, &given.source.degree, "N", "edges from each of them (default 2)"},
    {"grid", OPTION_NUMBER, &given.source.grid, "N", "a grid of N x N vertices (default 1000)"},
    {"percent", OPTION_NUMBER, &given.source.percent, "N", "of its edges are there (default 60)"},
    {"seed", OPTION_NUMBER, &given.source.seed, "N", "the random edges' seed (default 1)"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write each vertex's label on a line"},
    {0},
};

static void check_options(void)
{
    struct graph_source *s = &given.source;

    if (!!s->edges + !!s->matrix + !!s->image + !!s->random + !!s->grid > 1)
        all_quit(2, "--edges, --matrix, --image, --random and --grid exclude each other; give one");
    if (!s->edges && !s->matrix && !s->image && !s->random && !s->grid)
        s->grid = 1000;
    if (s->grid > 1 << 20)
        all_quit(2, "--grid is at most %d, not %ld", 1 << 20, s->grid);
    if (s->random > 1l << 40 || s->degree > 1000)
        all_quit(2, "--random is at most 2^40 and --degree at most 1000");
    if (s->percent > 100)
        all_quit(2, "--percent is from 0 to 100, not %ld", s->percent);
}

/* ---- the check ------------------------------------------------------------------------- */

/* The neighbours of vertex v are to[start[v]] to to[start[v + 1] - 1]. */
struct neighbours {
    long *start, *to;
};

static struct neighbours list_neighbours(const struct graph *graph)
{
    long n = graph->vertices, room = (n + 2) * (long)sizeof(long);
    struct neighbours list = {allocate(room), allocate(2 * graph->edges * sizeof(long))};
    long *next = list.start + 1; /* becomes start, as each entry moves on to the next one */

    memset(list.start, 0, room);
    for (long e = 0; e < graph->edges; e++) {
        next[graph->edge[e].u + 1]++;
        next[graph->edge[e].v + 1]++;
    }
    for (long v = 0; v < n; v++)
        next[v + 1] += next[v];
    for (long e = 0; e < graph->edges; e++) {
        list.to[next[graph->edge[e].u]++] = graph->edge[e].v;
        list.to[next[graph->edge[e].v]++] = graph->edge[e].u;
    }
    return list;
}

/* Label all that can be reached from a vertex with it, by going there. */
static void search(const struct neighbours *list, long from, long *label, long *queue)
{
    long begin = 0, end = 0;

    label[from] = from;
    queue[end++] = from;
    while (begin < end) {
        long v = queue[begin++];

        for (long i = list->start[v]; i < list->start[v + 1]; i++)
            if (label[list->to[i]] < 0) {
                label[list->to[i]] = from;
                queue[end++] = list->to[i];
            }
    }
}

/* Collective: the whole graph, searched from one vertex after the other by each processor
 * alone, has the labels that were found. */
static int check(long vertices, long first, long n, const long *label)
{
    struct graph whole = graph_load(&given.source, vertices, 0, vertices);
    struct neighbours list = list_neighbours(&whole);
    long *expected = allocate(vertices * sizeof *expected);
    long *queue = allocate(vertices * sizeof *queue);
    int good;

    for (long v = 0; v < vertices; v++)
        expected[v] = -1;
    for (long v = 0; v < vertices; v++)
        if (expected[v] < 0)
            search(&list, v, expected, queue);
    good = memcmp(label, expected + first, n * sizeof *label) == 0;
    free(queue);
    free(expected);
    free(list.to);
    free(list.start);
    free(whole.edge);
    return (int)team_min(good);
}

/* ---- the program ------------------------------------------------------------------------- */

/* The components, each counted where its smallest vertex is. */
static double count_components(long first, long n, const long *label)
{
    double count = 0;

    for (long i = 0; i < n; i++)
        count += label[i] == first + i;
    return team_sum(count);
}

static void write_labels(const char *file, const long *label, long n)
{
    char *text = allocate(n * 21 + 1);
    long length = 0, all;
    int fd, error;

    for (long i = 0; i < n; i++)
        length += sprintf(text + length, "%ld\n", label[i]);
    all = (long)team_sum(length);
    fd = open_output(file, all);
    error = write_at(fd, text, length, team_before(length));
    close(fd);
    free(text);
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}

/* Each turn uses up a copy of the graph. */
static int run(const struct graph *graph, long *label, struct watch *watch)
{
    size_t bytes = graph->edges * sizeof *graph->edge;
    struct edge *edge = allocate(bytes);
    int rounds = 0;

    while (next_turn(watch)) {
        struct graph copy = {graph->vertices, graph->edges, edge};

        memcpy(edge, graph->edge, bytes);
        watch_start(watch);
        rounds = find_components(&copy, label, watch);
    }
    free(edge);
    return rounds;
}

int benchmark_main(int argc, char **argv)
{
    long vertices, first, n, *label;
    struct graph graph;
    struct watch watch = {0};
    double edges;
    int good = 1;

    parse_options(argc, argv, "Connected components of a graph.", options);
    check_options();
    vertices = graph_vertices(&given.source);
    n = block_share(vertices, team_rank());
    first = n > 0 ? team_rank() * block_length(vertices) : vertices;
    graph = graph_load(&given.source, vertices, first, first + n);
    edges = team_sum(graph.edges);
    label = allocate(n * sizeof *label);
    report_fact("rounds", run(&graph, label, &watch));

    if (asked.check)
        good = check(vertices, first, n, label);
    report_fact("components", count_components(first, n, label));
    report(&watch, edges, "edges", good, "%ld vertices, %.0f edges", vertices, edges);
    if (given.output)
        write_labels(given.output, label, n);
    free(label);
    free(graph.edge);
    return good ? 0 : 1;
}
