/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bodies.sc - forces between the particles: all pairs, by passing them round the
 * ring, and by trees whose branches are on other processors.
 */
#include "plasma.h"

static particle visitors[2][ROOM];
static int visitor_count[2];
static particle *global next_visitors;
static int *global next_count;

/* Called here, defined below. */
extern inline vector force_of(vector at, vector from, double charge);

make_particles(n)
{
    int i;

    how_many = n;
    set_seed(100 + MYPROC);
    for (i = 0; i < n; i++) {
        particle *p = mine + i;
        p->at.x = uniform(), p->at.y = uniform();
        p->speed.x = uniform() - 0.5, p->speed.y = uniform() - 0.5;
        p->force.x = p->force.y = 0;
        p->charge = 1 + i % 3;
        p->number = MYPROC * n + i;
        p->marked = 0, p->steps = i;
    }
}

static pull(p, others, n)
particle *p, *others;
{
    int i;

    for (i = 0; i < n; i++) {
        vector f;
        if (others[i].number == p->number)
            continue;
        f = force_of(p->at, others[i].at, others[i].charge);
        p->force.x += f.x;
        p->force.y += f.y;
    }
}

extern inline vector force_of(vector at, vector from, double charge)
{
    vector f;
    double dx = from.x - at.x, dy = from.y - at.y;
    double r2 = SQR(dx) + SQR(dy) + SQR(FORCE_EPS);

    f.x = charge * dx / (r2 * sqrt(r2));
    f.y = charge * dy / (r2 * sqrt(r2));
    return f;
}

vector force_of(vector at, vector from, double charge)
{
    vector f;
    double dx = from.x - at.x, dy = from.y - at.y;
    double r2 = SQR(dx) + SQR(dy) + SQR(FORCE_EPS);

    f.x = charge * dx / (r2 * sqrt(r2));
    f.y = charge * dy / (r2 * sqrt(r2));
    return f;
}

/* Everybody's particles come by once: bulk stores to the right, bytes counted. */
forces_by_ring()
{
    int step, i, now = 0;

    for (i = 0; i < how_many; i++)
        mine[i].force.x = mine[i].force.y = 0;
    memcpy(visitors[0], mine, how_many * sizeof(particle));
    visitor_count[0] = how_many;
    barrier();
    for (step = 0; step < PROCS; step++) {
        for (i = 0; i < how_many; i++)
            pull(mine + i, visitors[now], visitor_count[now]);
        barrier();
        next_visitors = toglobal(RIGHT, visitors[1 - now]);
        next_count = toglobal(RIGHT, &visitor_count[1 - now]);
        *next_count :- visitor_count[now];
        bulk_store(next_visitors, visitors[now], visitor_count[now] * sizeof(particle));
        all_store_sync();
        now = 1 - now;
    }
    CHECK("who came home", visitor_count[now] == how_many &&
                               visitors[now][0].number == mine[0].number);
}

/* The same with every particle fetched where it lives. */
forces_by_reading(counts)
int counts[PROCS]::;
{
    int p, i, k;

    for (i = 0; i < how_many; i++)
        mine[i].force.x = mine[i].force.y = 0;
    for (p = 0; p < PROCS; p++) {
        particle *global theirs = toglobal(p, mine);
        int n = counts[p];
        for (k = 0; k < n; k++) {
            particle one;
            one = theirs[k];
            for (i = 0; i < how_many; i++)
                pull(mine + i, &one, 1);
        }
    }
    barrier();
}

/* ---- trees ---------------------------------------------------------------------- */

static tree_node *new_node(x, y, half)
double x, y, half;
{
    tree_node *t = (tree_node *)malloc(sizeof(tree_node));
    int i;

    t->centre.x = x, t->centre.y = y;
    t->half = half;
    t->mass = t->mass_at.x = t->mass_at.y = 0;
    t->count = 0, t->leaf = 1;
    for (i = 0; i < 4; i++)
        t->child[i] = NULL;
    return t;
}

#define QUADRANT(t, at) (((at).x >= (t)->centre.x) + 2 * ((at).y >= (t)->centre.y))

static tree_node *child_for(t, at)
tree_node *t;
vector at;
{
    int q = QUADRANT(t, at);
    double h = t->half / 2;

    if (t->child[q] == NULL)
        t->child[q] = toglobal(MYPROC, new_node(t->centre.x + (q & 1 ? h : -h),
                                                t->centre.y + (q & 2 ? h : -h), h));
    return tolocal(t->child[q]);
}

static insert(t, at, mass)
tree_node *t;
vector at;
double mass;
{
    if (t->leaf && t->count > 0 && t->half > 1e-6) {
        t->leaf = 0;
        insert(child_for(t, t->mass_at), t->mass_at, t->mass);
    }
    if (!t->leaf)
        insert(child_for(t, at), at, mass);
    t->mass_at.x = (t->mass_at.x * t->mass + at.x * mass) / (t->mass + mass);
    t->mass_at.y = (t->mass_at.y * t->mass + at.y * mass) / (t->mass + mass);
    t->mass += mass;
    t->count++;
}

/* Of our own particles; the others will come and read. */
tree build_tree()
{
    tree_node *root = new_node(0.5, 0.5, 0.5);
    int i;

    for (i = 0; i < how_many; i++)
        insert(root, mine[i].at, mine[i].charge);
    return toglobal(MYPROC, root);
}

static free_tree(t)
tree t;
{
    int i;

    if (t == NULL)
        return;
    for (i = 0; i < 4; i++)
        free_tree(t->child[i]);
    free(tolocal(t));
}

/* The force on a place of all that hangs on a branch. */
static vector tree_force(t, at, opening)
tree t;
vector at;
double opening;
{
    tree_node here;
    vector sum, f, d;
    int i;

    sum.x = sum.y = 0;
    here = *t;
    d.x = here.mass_at.x - at.x, d.y = here.mass_at.y - at.y;
    if (here.leaf || 2 * here.half < opening * norm(d))
        return here.leaf && norm(d) == 0 ? sum : force_of(at, here.mass_at, here.mass);
    for (i = 0; i < 4; i++)
        if (here.child[i] != NULL) {
            f = tree_force(here.child[i], at, opening);
            sum.x += f.x, sum.y += f.y;
        }
    return sum;
}

static count_tree(t)
tree t;
{
    int i, n = 0;

    if (t == NULL)
        return 0;
    if (t->leaf)
        return t->count;
    for (i = 0; i < 4; i++)
        n += count_tree(t->child[i]);
    return n;
}

/* How far the trees' forces are from the exact ones, for some of our particles. */
static double tree_error(trees, opening)
tree trees[PROCS]::;
double opening;
{
    double most = 0;
    int i, p;

    for (i = 0; i < how_many; i += 4) {
        vector sum, f, d;
        sum.x = sum.y = 0;
        for (p = 0; p < PROCS; p++) {
            f = tree_force(trees[p], mine[i].at, opening);
            sum.x += f.x, sum.y += f.y;
        }
        d.x = sum.x - mine[i].force.x, d.y = sum.y - mine[i].force.y;
        most = MAX(most, norm(d) / MAX(1, norm(mine[i].force)));
    }
    return most;
}

check_trees()
{
    tree trees[PROCS]::;
    int n;

    trees[MYPROC] = build_tree();
    barrier();
    n = count_tree(trees[RIGHT]);
    CHECK("the neighbour's tree", n == *toglobal(RIGHT, &how_many));
    CHECK("the trees' forces, all branches opened", tree_error(trees, 0.0) < 1e-9);
    CHECK("the trees' forces", tree_error(trees, 0.3) < 0.5);
    barrier();
    free_tree(trees[MYPROC]);
}

double total_energy()
{
    double sum = 0;
    int i;

    for (i = 0; i < how_many; i++)
        sum += mine[i].charge * square(norm(mine[i].speed)) / 2;
    return all_reduce_to_all_dadd(sum);
}

check_forces()
{
    int counts[PROCS]::, i;
    vector kept[ROOM];
    double sum = 0;

    counts[MYPROC] = how_many;
    barrier();
    forces_by_ring();
    for (i = 0; i < how_many; i++)
        kept[i] = mine[i].force;
    forces_by_reading(counts);
    for (i = 0; i < how_many; i++) {
        CHECK_CLOSE("a force in x", kept[i].x, mine[i].force.x);
        CHECK_CLOSE("a force in y", kept[i].y, mine[i].force.y);
        sum += mine[i].charge * mine[i].force.x;
    }
    sum = all_reduce_to_all_dadd(sum);
    CHECK("action and reaction", ABS(sum) < 1e-6);
    check_trees();
}
