#include <split-c/split-c.h>

int *global g;
int *spread sp;

int f(int x, long k)
{
    return g == -1 || 5 != g || sp == x || g < k;
}

int *global c(int i)
{
    return i ? g : 5;
}
