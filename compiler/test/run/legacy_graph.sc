// flags: -std=gnu89
/*
 * em.sc - waves on an irregular bipartite graph, as EM3D does: E nodes depend on
 * H nodes and the other way round, in three versions that have to agree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <split-c/split-c.h>

#define NODES  12
#define DEGREE 4
#define STEPS  3

typedef struct node_t {
    double value;
    int edges;
    double *coefficients;
    double *global *values;         /* where the neighbours' values are */
    double ghost[DEGREE];           /* and local copies of them */
    struct node_t *next;
} node_t;

typedef node_t *global gnode_t;

typedef struct graph {
    node_t *e_nodes, *h_nodes;
} graph_t;

static gnode_t *tables[2];          /* all nodes, by number */
static node_t mine[2][NODES];
int numbers = 4711;

#define FOR_EACH(n, list) for (n = (list); n != NULL; n = n->next)

static pseudo() { return (numbers = (numbers * 421 + 54773) % 259200); }

node_t *make_nodes(kind)
{
    int i;
    for (i = 0; i < NODES; i++) {
        node_t *n = &mine[kind][i];
        n->value = MYPROC * NODES + i + kind;
        n->edges = DEGREE;
        n->next = i + 1 < NODES ? n + 1 : NULL;
    }
    return mine[kind];
}

make_table(kind)
{
    int i;
    tables[kind] = (gnode_t *)malloc(NODES * PROCS * sizeof(gnode_t));
    for (i = 0; i < NODES * PROCS; i++)
        tables[kind][i] = toglobal(i / NODES, &mine[kind][i % NODES]);
}

connect_nodes(list, kind)
node_t *list;
{
    node_t *n;
    int k;

    FOR_EACH(n, list) {
        n->coefficients = (double *)malloc(n->edges * sizeof(double));
        n->values = (double *global *)malloc(n->edges * sizeof(double *global));
        for (k = 0; k < n->edges; k++) {
            gnode_t other = tables[kind][pseudo() % (NODES * PROCS)];
            n->coefficients[k] = (k + 1) / 16.0;
            n->values[k] = &other->value;
        }
    }
}

void step_blocking(list)
node_t *list;
{
    node_t *n;
    int k;
    FOR_EACH(n, list)
        for (k = 0; k < n->edges; k++)
            n->value = n->value - *(n->values[k]) * n->coefficients[k];
    barrier();
}

void step_split_phase(list)
node_t *list;
{
    register node_t *n;
    int k;
    FOR_EACH(n, list)
        for (k = 0; k < n->edges; k++)
            n->ghost[k] := *n->values[k];
    sync();
    FOR_EACH(n, list)
        for (k = 0; k < n->edges; k++)
            n->value -= n->ghost[k] * n->coefficients[k];
    barrier();
}

void step_bulk(list)
node_t *list;
{
    node_t *n;
    int k;
    FOR_EACH(n, list)
        for (k = 0; k < n->edges; k++)
            bulk_get(&n->ghost[k], n->values[k], sizeof(double));
    sync();
    FOR_EACH(n, list)
        for (k = 0; k < n->edges; k++)
            n->value -= n->ghost[k] * n->coefficients[k];
    barrier();
}

double run(step)
void (*step)();
{
    graph_t g;
    node_t *n;
    double sum = 0;
    int i;

    g.e_nodes = make_nodes(0);
    g.h_nodes = make_nodes(1);
    numbers = 4711 + MYPROC;
    connect_nodes(g.e_nodes, 1);
    connect_nodes(g.h_nodes, 0);
    barrier();
    for (i = 0; i < STEPS; i++) {
        (*step)(g.e_nodes);
        step(g.h_nodes);
    }
    FOR_EACH(n, g.e_nodes)
        sum += n->value * (n - g.e_nodes + 1);
    return all_reduce_to_all_dadd(sum);
}

splitc_main(argc, argv)
char **argv;
{
    static void (*steps[])() = { step_blocking, step_split_phase, step_bulk };
    double first, other;
    int i, wrong = 0;

    make_table(0), make_table(1);
    first = run(steps[0]);
    for (i = 1; i < 3; i++)
        if ((other = run(steps[i])) != first) {
            printf("version %d: %.17g, not %.17g\n", i, other, first);
            wrong = 1;
        }
    if (first == 0)
        wrong = 2;
    return wrong;
}
