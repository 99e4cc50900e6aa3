#include <split-c/split-c.h>
int A[4]::;
int g(int);
int f(int *global p)
{
    int x, y;
    if (x := *p)
        y = x := A[1];
    while (*p :- 3)
        g(x := *p);
    x := *p + 1;
    x := -A[2];
    return x := *p;
}
