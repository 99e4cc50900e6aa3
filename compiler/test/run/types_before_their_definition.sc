// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
// ranks: 1 3 4
//
// Trees over all processors in the C of 1990: types that name each other before they are defined,
// members that are functions without prototypes, K&R parameters that are functions.
#include <split-c/split-c.h>
#include "../check.h"

#define KIDS 4

typedef struct quad *global gquad;
typedef struct leaf *spread sleaf;
typedef union any any;

struct methods {
    int (*sum)();
    gquad (*kid)();
    sleaf (*leaf)();
    int *global (*place)();
};

struct quad {
    int depth;
    any *global value;
    gquad kid[KIDS];
    struct methods *methods; /* at the same address everywhere */
    sleaf leaves;
};

union any {
    int number;
    struct leaf *global leaf;
    gquad quad;
};

struct leaf {
    int weight;
    any next;
};

static struct quad quads[32];
static any values[32];
static int used;
static struct leaf leaves[2 * PROCS]::;
static gquad root;

static gquad kid(q, i)
gquad q;
{
    return q->kid[i & 3];
}

static sleaf leaf(n) { return leaves + n; }

static int *global place(q)
gquad q;
{
    return &q->value->number;
}

static sum(q)
gquad q;
{
    int i, s = 0;
    gquad k;

    if (q->depth == 0)
        return q->value->number;
    for (i = 0; i < KIDS; i++)
        if (k = (*q->methods->kid)(q, i))
            s += (*k->methods->sum)(k);
    return s;
}

static struct methods methods = { sum, kid, leaf, place };

/* Returns a tree with three kids at each node. */
gquad tree(depth, number)
{
    struct quad *q = &quads[used];
    int i;

    q->value = &values[used++];
    q->methods = &methods;
    q->depth = depth;
    q->value->number = number;
    for (i = 0; i < KIDS; i++)
        q->kid[i] = depth && i < 3 ? tree(depth - 1, number * 3 + i) : (gquad)NULL;
    return q;
}

static count(q)
gquad q;
{
    int i, n = 1;

    for (i = 0; i < KIDS; i++)
        if (q->kid[i])
            n += count(q->kid[i]);
    return n;
}

static plus(f, q, n)
int (*f)();
gquad q;
{
    return f(q) + n;
}

static twice(f, g, q)
int (*f)(), (*g)();
gquad q;
{
    return (*f)(g, q, (*g)(q));
}

splitc_main()
{
    int next = (MYPROC + 1) % PROCS, i, expected = 0;
    gquad (*make)() = tree, q;
    int *global (*where)();
    sleaf s;

    root = (*make)(2, 1 + MYPROC);
    for_my_1d(i, 2 * PROCS) {
        leaves[i].weight = i;
        leaves[i].next.leaf = &leaves[(i + 1) % (2 * PROCS)];
    }
    barrier();
    q = *toglobal(next, &root);
    for (i = 0; i < 3; i++)
        expected += 9 * ((1 + next) * 3 + i) + 3;
    EXPECT(sum(q), expected);
    EXPECT(count(q), 13);
    EXPECT(plus(q->methods->sum, q, 5), expected + 5);
    EXPECT(twice(plus, count, q), 26);
    where = q->methods->place;
    EXPECT(*where(q), 1 + next);
    EXPECT(where(q) == &q->value->number, 1);
    s = (*q->methods->leaf)(1);
    EXPECT(s->next.leaf->weight, 2 % (2 * PROCS));
    EXPECT(s->next.leaf->next.leaf->weight, 3 % (2 * PROCS));
    barrier();
    q->value->quad = q;
    q->leaves = s;
    q->leaves++;
    barrier();
    EXPECT(root->value->quad->value->quad->kid[1] == root->kid[1], 1);
    EXPECT(root->leaves[-1].weight, 1);
    EXPECT(root->leaves - leaves, 2);
    barrier();
    return failures;
}
