#include <split-c/split-c.h>

#define FETCH(x, g) \
    do {            \
        x := *(g);  \
    } while (0)
#define SUM(a, b) ((a) + (b))

int f(int *global g)
{
    int x;
    FETCH(x, g);
    return SUM(1, x);
}
