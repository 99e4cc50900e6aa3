// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

typedef struct tree *global tree_t;
struct tree {
    struct tree *global child[2];
    int *spread row;
    double (*spread blocks)[2];
    tree_t (*grow)(tree_t, int);
    int *global *spread *local;
    union { int *global g; long l; } u[2];
    struct { tree_t *list; int n : 4; } in;
};
static struct tree nodes[8];
static int used;

static tree_t leaf(tree_t parent, int side)
{
    tree_t fresh = toglobal(MYPROC, &nodes[used++]);

    fresh->in.n = parent ? parent->in.n + 1 : 1;
    if (parent)
        parent->child[side] = fresh;
    return fresh;
}

static int depth(tree_t t)
{
    int left, right;

    if (t == NULL)
        return 0;
    left = depth(t->child[0]), right = depth(t->child[1]);
    return 1 + (left > right ? left : right);
}

int splitc_main(void)
{
    struct tree copy, *here = nodes;
    tree_t root, far;

    nodes[0].grow = leaf;
    root = nodes[0].grow(NULL, 0);
    root->grow = leaf;
    here->grow(root, 1);
    here->grow(root->child[1], 0)->in.n = 7;
    root->row = all_spread_malloc(PROCS, sizeof(int));
    root->blocks = all_spread_malloc(PROCS, sizeof(double[2]));
    root->u[1].g = &used;
    root->row[MYPROC] = MYPROC;
    root->blocks[MYPROC][1] = 2.5;
    barrier();
    far = toglobal(PROCS - 1, nodes);
    copy = *far;
    EXPECT(depth(far), 3);
    EXPECT(depth(copy.child[1]), 2);
    EXPECT(copy.child[1]->child[0]->in.n, 7);
    EXPECT(far->row[PROCS - 1], PROCS - 1);
    EXPECT(2 * copy.blocks[0][1], 5);
    EXPECT(*far->u[1].g, 3);
    EXPECT(toproc(copy.u[1].g), PROCS - 1);
    EXPECT(copy.grow == leaf && far->child[0] == NULL, 1);
    EXPECT(sizeof copy, 80);
    barrier();
    return failures;
}
