#include <split-c/split-c.h>

int f(int *global g)
{
    return *(int *)g;
}
