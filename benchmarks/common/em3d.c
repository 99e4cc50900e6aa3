/* SPDX-License-Identifier: BSD-3-Clause
 *
 * em3d.c - the main program of EM3D: electromagnetic waves on an irregular graph.
 */
#include "circuit.h"
#include "common.h"
#include "random.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>

static struct {
    long nodes;
    long degree;
    long remote;
    long steps;
    long seed;
    const char *matrix;
    const char *electric;
    const char *magnetic;
} given = {.degree = 10, .remote = 10, .steps = 20, .seed = 1};

static const struct option_entry options[] = {
    {"nodes", OPTION_NUMBER, &given.nodes, "N", "nodes of each kind (default 40000 a processor)"},
    {"degree", OPTION_NUMBER, &given.degree, "N", "edges to each node (default 10)"},
    {"remote", OPTION_NUMBER, &given.remote, "N", "percent of them from anywhere (default 10)"},
    {"matrix", OPTION_TEXT, &given.matrix, "FILE",
     "a Matrix Market file instead: the electric nodes' rows"},
    {"steps", OPTION_NUMBER, &given.steps, "N", "how often both kinds change (default 20)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random graph's seed (default 1)"},
    {"electric", OPTION_TEXT, &given.electric, "FILE", "write the electric nodes' values"},
    {"magnetic", OPTION_TEXT, &given.magnetic, "FILE", "write the magnetic nodes' values"},
    {0},
};

enum kind { ELECTRIC, MAGNETIC };

/* ---- the graph ---------------------------------------------------------------------------- */

#define NEAR 16 /* how far an edge goes that stays near */

static unsigned long seed_of(enum kind kind)
{
    return random_at(given.seed, kind);
}

/* The node that the i-th edge to a node comes from. */
static long source_of(long node, long i, enum kind kind)
{
    unsigned long random = random_at(seed_of(kind), node * given.degree + i);
    long distance = (long)(random >> 8) % (2 * NEAR + 1) - NEAR;

    if ((long)(random % 100) < given.remote)
        return (long)((random >> 8) % given.nodes);
    return ((node + distance) % given.nodes + given.nodes) % given.nodes;
}

static struct entries make_edges(enum kind kind, long first, long end)
{
    struct entries entries = {0};

    for (long node = first; node < end; node++)
        for (long i = 0; i < given.degree; i++)
            add_entry(&entries, node, source_of(node, i, kind),
                      random_real(seed_of(kind) + 1, node * given.degree + i) / given.degree);
    return entries;
}

/* The magnetic nodes take from the electric ones what these take from them. */
static struct entries read_edges(enum kind kind, long first, long end)
{
    struct mtx mtx = mtx_open(given.matrix);
    struct entries entries = {0};
    struct entry e;

    if (mtx.symmetric)
        text_fail(&mtx.text, "the matrix of a circuit is general, not symmetric");
    while (mtx_next(&mtx, &e)) {
        long row = kind == ELECTRIC ? e.row : e.column;

        if (row >= first && row < end)
            add_entry(&entries, row, kind == ELECTRIC ? e.column : e.row, e.value);
    }
    mtx_close(&mtx);
    return entries;
}

static struct entries edges_to(enum kind kind, long first, long end)
{
    return given.matrix ? read_edges(kind, first, end) : make_edges(kind, first, end);
}

static double initial_value(enum kind kind, long node)
{
    return random_real(seed_of(kind) + 2, node);
}

static void set_initial_values(struct nodes *nodes, enum kind kind)
{
    long first = team_rank() * block_length(nodes->n);

    for (long i = 0; i < nodes->from.rows; i++)
        nodes->value[i] = initial_value(kind, first + i);
}

static struct nodes make_nodes(enum kind kind, long n, long others)
{
    long mine = block_share(n, team_rank());
    long first = mine > 0 ? team_rank() * block_length(n) : 0;
    struct entries entries = edges_to(kind, first, first + mine);
    struct nodes nodes = {n, sparse_make(&entries, n, others), allocate(mine * sizeof(double))};

    return nodes;
}

/* ---- the check ------------------------------------------------------------------------------ */

/* All nodes of a kind, edge by edge. */
struct reference {
    struct entries edges;
    double *value;
    long n;
};

static struct reference refer_to(enum kind kind, long n)
{
    struct reference r = {edges_to(kind, 0, n), allocate(n * sizeof(double)), n};

    for (long i = 0; i < n; i++)
        r.value[i] = initial_value(kind, i);
    return r;
}

static void change(struct reference *to, const struct reference *from)
{
    double *sum = allocate(to->n * sizeof *sum);

    for (long i = 0; i < to->n; i++)
        sum[i] = 0;
    for (long e = 0; e < to->edges.n; e++)
        sum[to->edges.at[e].row] += to->edges.at[e].value * from->value[to->edges.at[e].column];
    for (long i = 0; i < to->n; i++)
        to->value[i] -= sum[i];
    free(sum);
}

static int agrees(const struct nodes *nodes, struct reference *r)
{
    long first = team_rank() * block_length(nodes->n);
    int good = 1;

    for (long i = 0; i < nodes->from.rows; i++)
        good &=
            fabs(nodes->value[i] - r->value[first + i]) <= 1e-9 * (1 + fabs(r->value[first + i]));
    free(r->edges.at);
    free(r->value);
    return good;
}

/* Collective: each processor computes all nodes and compares its own. */
static int check(const struct nodes *electric, const struct nodes *magnetic)
{
    struct reference e = refer_to(ELECTRIC, electric->n), h = refer_to(MAGNETIC, magnetic->n);
    int good;

    for (long step = 0; step < given.steps; step++) {
        change(&e, &h);
        change(&h, &e);
    }
    good = agrees(electric, &e);
    good &= agrees(magnetic, &h);
    return (int)team_min(good);
}

/* ---- the program ---------------------------------------------------------------------------- */

static void count_nodes(long *electric, long *magnetic)
{
    struct mtx mtx;

    *electric = *magnetic = given.nodes;
    if (!given.matrix)
        return;
    mtx = mtx_open(given.matrix);
    *electric = mtx.rows;
    *magnetic = mtx.columns;
    mtx_close(&mtx);
}

static void free_nodes(struct nodes *nodes)
{
    sparse_free(&nodes->from);
    free(nodes->value);
}

int benchmark_main(int argc, char **argv)
{
    struct nodes electric, magnetic;
    struct watch watch = {0};
    long es, hs;
    double edges;
    int good;

    parse_options(argc, argv, "EM3D: electromagnetic waves on an irregular graph.", options);
    if (given.matrix && given.nodes)
        all_quit(2, "--matrix and --nodes exclude each other; give one of them");
    if (given.degree < 1 || given.degree > 10000 || given.remote > 100)
        all_quit(2, "--degree is from 1 to 10000, and --remote from 0 to 100");
    if (!given.nodes)
        given.nodes = 40000l * team_size();
    count_nodes(&es, &hs);
    electric = make_nodes(ELECTRIC, es, hs);
    magnetic = make_nodes(MAGNETIC, hs, es);
    edges = team_sum(electric.from.entries + magnetic.from.entries);

    while (next_turn(&watch)) {
        set_initial_values(&electric, ELECTRIC);
        set_initial_values(&magnetic, MAGNETIC);
        watch_start(&watch);
        propagate(&electric, &magnetic, given.steps, &watch);
    }

    good = !asked.check || check(&electric, &magnetic);
    report_fact("ghosts", team_sum(electric.from.ghosts + magnetic.from.ghosts));
    report(&watch, edges * given.steps, "edges", good,
           "%ld electric and %ld magnetic nodes, %.0f edges, %ld steps", es, hs, edges,
           given.steps);
    if (given.electric)
        mtx_write_vector(given.electric, electric.value, es);
    if (given.magnetic)
        mtx_write_vector(given.magnetic, magnetic.value, hs);
    free_nodes(&electric);
    free_nodes(&magnetic);
    return good ? 0 : 1;
}
