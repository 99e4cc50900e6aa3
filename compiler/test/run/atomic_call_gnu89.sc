// flags: -std=gnu89
#include <split-c/split-c.h>
#include "../check.h"

/* Old definitions; results and promotions as C89 has them. */
static bump(p, by, scale)
    int *p;
    short by;
    float scale;
{
    *p += by * scale;
    return *p;
}

extern inline int twice(int *p)
{
    return *p *= 2;
}

static void clear(p) int *p;
{
    *p = 0;
}

int twice(int *);
int cell;

splitc_main()
{
    short two = 2;
    float half = 0.5;

    on_one EXPECT(atomic(bump, toglobal(PROCS - 1, &cell), two, half), 1);
    barrier();
    on_one EXPECT(atomic(twice, toglobal(PROCS - 1, &cell)), 2);
    barrier();
    on_one atomic(clear, toglobal(PROCS - 1, &cell));
    barrier();
    EXPECT(cell, 0);
    return failures;
}
