#include <split-c/split-c.h>

int then(int *global g, int c)
{
    int x;
    x := *g;
    if (c)
        return x;
    sync();
    return x;
}

int after_both(int *global g, int c)
{
    int x, y = 0;
    x := *g;
    if (c)
        y = 1;
    else
        y = 2;
    return x + y;
}

int after_return(int *global g, int c)
{
    int x;
    x := *g;
    if (c) {
        sync();
        return 0;
    }
    return x;
}

int conditional(int *global g, int c)
{
    int x;
    x := *g;
    c = c && x;
    sync();
    x := *g;
    return c ? x : 0;
}
