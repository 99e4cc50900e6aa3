#include <split-c/split-c.h>

typedef struct {
    int a;
} block;
struct pair {
    struct inner {
        int b;
    } q;
};
int A[4]::[4];

int f(struct pair *global g)
{
    g->q.b := 1;
    return g->q->b;
}

void h(block *global b, block z)
{
    A[1][2] := 3;
    A[1][2][3] = 1;
    z = 3;
    b = z;
}
