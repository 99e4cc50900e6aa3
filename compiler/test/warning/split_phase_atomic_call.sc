#include <split-c/split-c.h>

static int bump(int *p, int by)
{
    return *p += by;
}

int f(int *global g)
{
    int x, by = 1;
    x := atomic(bump, g, by);
    by = 2; /* the argument has been taken */
    return x + by;
}
