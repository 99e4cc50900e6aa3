#include <split-c/split-c.h>

static void clear(int *p)
{
    *p = 0;
}

static int bump(int *p)
{
    return (*p)++;
}

int f(int *global g)
{
    int x;
    x := atomic(clear, g);
    x := atomic(bump, g);
    sync();
    return x;
}
