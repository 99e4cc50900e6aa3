#include <split-c/split-c.h>
#include "../check.h"

int cells[3];

static int *global next(int *global p)
{
    return p + 1;
}

static int *global same(int *global p)
{
    return p;
}

typedef int *global (*mover)(int *global);

struct step {
    int *global (*move)(int *global);
    void (*apply)(mover, int *global *);
};

static void apply(mover move, int *global *p)
{
    *p = move(*p);
}

static mover choose(int which)
{
    return which ? next : same;
}

int splitc_main(void)
{
    int *global (*table[2])(int *global) = {same, next};
    struct step step = {next, apply};
    int *global p = toglobal(PROCS - 1, cells);

    for (int i = 0; i < 3; i++)
        cells[i] = 10 * MYPROC + i;
    barrier();
    EXPECT(*table[1](p), 10 * (PROCS - 1) + 1);
    EXPECT(*(*table[0])(p), 10 * (PROCS - 1));
    step.apply(step.move, &p);
    EXPECT(*p, 10 * (PROCS - 1) + 1);
    p = choose(1)(p);
    EXPECT(*p, 10 * (PROCS - 1) + 2);
    EXPECT(*choose(0)(p), 10 * (PROCS - 1) + 2);
    barrier();
    return failures;
}
