#include <split-c/split-c.h>

int f(int *global g)
{
    int x;
    x := *g;
    barrier();
    return x;
}
