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
