#include <split-c/split-c.h>

struct a {
    int x;
};
struct b {
    int x;
} sb;
union u {
    int x;
} u;
double D[3]::;
int A[3]::;
char *texts[3]::;

void f(struct a *global g, struct a *global h, const struct a *k)
{
    *g = sb;
    *g := sb;
    *g :- sb;
    g[0] = 3;
    D[1] = "abc";
    A[1] = u;
    texts[0] = 1.5;
    *g = *h;
    *g :- *k;
    *g = *k;
    texts[1] = "abc";
    A[2] = 1.0;
}
