#include <split-c/split-c.h>

int f(int *global g)
{
    int x;
    x := *g;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsplit-phase"
    return x;
#pragma GCC diagnostic pop
}

int h(int *global g)
{
    int x;
    x := *g;
    return x;
}
