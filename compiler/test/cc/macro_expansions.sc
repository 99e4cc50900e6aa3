#include <split-c/split-c.h>

#define ADD(a, b) ((a) + (b))
#define UNUSED(t, name) t name

struct pair {
    int a, b;
};

int f(struct pair *global g, int n)
{
    UNUSED(int, nobody);
    on_one n = ADD(*g, n);
    return ADD(n,
               *g);
}
