#include <split-c/split-c.h>

int f(int *global g)
{
    int x, y;
    x := *g;
    x = 0;
    y := *g;
    y++;
    sync();
    return x + y;
}
