/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cc.c - connected components: the twin of splitc/cc.sc.
 */
#include "components.h"
#include "exchange.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

/* The parents of this processor's vertices. */
struct forest {
    long block, first;
    long *parent;
};

/* ---- vertices in the order of their processors -------------------------------------------- */

/* Where in that order each of some vertices comes, and how many each processor has. */
static void order_by_owner(const long *vertex, long n, long block, long *place, long *count)
{
    long *next = allocate(team_size() * sizeof *next), at = 0;

    memset(count, 0, team_size() * sizeof *count);
    for (long i = 0; i < n; i++)
        count[vertex[i] / block]++;
    for (int p = 0; p < team_size(); p++) {
        next[p] = at;
        at += count[p];
    }
    for (long i = 0; i < n; i++)
        place[i] = next[vertex[i] / block]++;
    free(next);
}

/* Collective: replace vertices, anybody's, by their parents. */
static void to_parents(const struct forest *f, long *vertex, long n)
{
    long *place = allocate(n * sizeof *place), *question = allocate(n * sizeof *question);
    long *count = allocate(team_size() * sizeof *count), *asked_here;
    struct exchange x;

    order_by_owner(vertex, n, f->block, place, count);
    for (long i = 0; i < n; i++)
        question[place[i]] = vertex[i];
    x = exchange_plan(count);
    asked_here = allocate(x.in_all * sizeof *asked_here);
    exchange_send(&x, question, asked_here, sizeof *question);
    for (long i = 0; i < x.in_all; i++)
        asked_here[i] = f->parent[asked_here[i] - f->first];
    exchange_answer(&x, asked_here, question, sizeof *question);
    for (long i = 0; i < n; i++)
        vertex[i] = question[place[i]];
    exchange_free(&x);
    free(asked_here);
    free(count);
    free(question);
    free(place);
}

/* ---- one round ---------------------------------------------------------------------------- */

static void hook(struct forest *f, const struct edge *edge, long n)
{
    long *vertex = allocate(n * sizeof *vertex), *place = allocate(n * sizeof *place);
    long *count = allocate(team_size() * sizeof *count);
    struct edge *sorted = allocate(n * sizeof *sorted), *coming;
    struct exchange x;

    for (long e = 0; e < n; e++)
        vertex[e] = edge[e].u;
    order_by_owner(vertex, n, f->block, place, count);
    for (long e = 0; e < n; e++)
        sorted[place[e]] = edge[e];
    x = exchange_plan(count);
    coming = allocate(x.in_all * sizeof *coming);
    exchange_send(&x, sorted, coming, sizeof *coming);
    for (long e = 0; e < x.in_all; e++)
        f->parent[coming[e].u - f->first] = coming[e].v;
    exchange_free(&x);
    free(coming);
    free(sorted);
    free(count);
    free(place);
    free(vertex);
}

static void shorten(struct forest *f, const long *root, long n)
{
    long *hanging = allocate(n * sizeof *hanging);
    long *above;
    int moved;

    n = list_hanging(f->parent, f->first, root, n, hanging);
    above = allocate(n * sizeof *above);
    do {
        moved = 0;
        for (long i = 0; i < n; i++)
            above[i] = f->parent[hanging[i]];
        to_parents(f, above, n);
        for (long i = 0; i < n; i++) {
            moved |= f->parent[hanging[i]] != above[i];
            f->parent[hanging[i]] = above[i];
        }
    } while (team_max(moved) > 0);
    free(above);
    free(hanging);
}

static long contract(const struct forest *f, struct edge *edge, long n)
{
    long *end = allocate(2 * n * sizeof *end), kept = 0;

    for (long e = 0; e < n; e++) {
        end[2 * e] = edge[e].u;
        end[2 * e + 1] = edge[e].v;
    }
    to_parents(f, end, 2 * n);
    for (long e = 0; e < n; e++)
        if (end[2 * e] != end[2 * e + 1])
            edge[kept++] = (struct edge){end[2 * e], end[2 * e + 1]};
    free(end);
    return distinct_edges(edge, kept);
}

/* ---- all rounds --------------------------------------------------------------------------- */

int find_components(struct graph *graph, long *label, struct watch *watch)
{
    long block = block_length(graph->vertices), n = block_share(graph->vertices, team_rank());
    struct forest f = {block, team_rank() * block, allocate(n * sizeof(long))};
    long edges, roots, *root = allocate(n * sizeof *root);
    int rounds = 0;

    edges = local_components(f.first, n, graph, f.parent);
    roots = list_roots(f.parent, f.first, n, root);
    memcpy(label, f.parent, n * sizeof *label);
    watch_computed(watch);

    edges = contract(&f, graph->edge, edges);
    while (team_max(edges) > 0) {
        progress("round", rounds, rounds + 1);
        hook(&f, graph->edge, edges);
        shorten(&f, root, roots);
        edges = contract(&f, graph->edge, edges);
        rounds++;
    }
    watch_communicated(watch);

    for (long i = 0; i < n; i++)
        label[i] = f.parent[label[i] - f.first];
    free(f.parent);
    free(root);
    watch_computed(watch);
    return rounds;
}
