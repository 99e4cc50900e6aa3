#include <split-c/split-c.h>
#include "../check.h"

typedef struct {
    int spread;
    int *global global;
} global_t;

int global = 4, *spread, *global_pointer;
int *global to_global;

static int sum(int global, int spread)
{
    return global + spread;
}

static int take(int *global global)
{
    return *global;
}

// In a definition every parameter has a name; in a prototype none needs one.
static int local(int *global, struct tag *spread)
{
    return *global + (spread == NULL);
}

static int old(spread, global) int *spread, *global;
{
    return *spread - *global;
}

static int far(int *global, int *spread);

static int far(int *global g, int *spread s)
{
    return toproc(g) + toproc(s);
}

// So `global []` is an array of global pointers there, and of local ones with a body behind it.
static int sum_of(int, int *global []);
static int first_of(int *spread[2], int *global(*[])(int *global []));

static int sum_of(int n, int *global p[])
{
    return n ? *p[n - 1] + sum_of(n - 1, p) : 0;
}

static int *global last(int *global *p) { return p[1]; }

static int first_of(int *spread *p, int *global (**f)(int *global *))
{
    return toproc(*p) + *f[0]((int *global *)p);
}

static int all_local(int *global[], int *spread[2])
{
    return *global[0] + *spread[1];
}

int splitc_main(void)
{
    global_t s = {.spread = 2, .global = 0}, *p = &s;
    int *global spread = &global;
    struct global {
        int global;
    } tagged = {3};
    enum { spread_width = 9 };

    to_global = &global;
    EXPECT(global * 2, 8);
    EXPECT(2 *global, 8);
    EXPECT(global *global, 16);
    EXPECT(*spread, 4);
    EXPECT(*spread *global, 16);
    EXPECT(sum(global, *spread), 8);
    EXPECT(take(to_global), 4);
    EXPECT(local(&p->spread, NULL), 3);
    EXPECT(old(&p->spread, &p->spread), 0);
    EXPECT(far(&p->spread, toglobal(0, &p->spread)), MYPROC);
    {
        int *global globals[] = {&p->spread, to_global}, *locals[] = {&p->spread, &global};
        int *spread spreads[2] = {tospread(0, &p->spread), tospread(0, &global)};
        int *global (*functions[])(int *global []) = {last};
        EXPECT(sum_of(2, globals), 6);
        EXPECT(all_local(locals, locals), 6);
        on_one EXPECT(first_of(spreads, functions), 4);
    }
    p->global = to_global;
    EXPECT(*p->global + p->spread, 6);
    EXPECT(tagged.global + spread_width, 12);
    EXPECT(sizeof(int *global), 8);
    {
        int x = 6, *global = &x;
        *global = 7;
        EXPECT(x, 7);
    }
    {
        typedef int spread;
        spread y = 5;
        spread *z = &y;
        int *global g = z;
        EXPECT(*g, 5);
    }
global:
    if (global-- > 3)
        goto global;
    EXPECT(global, 2);
    return failures;
}
