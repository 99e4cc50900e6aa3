#include <stdio.h>
void f(int *global g, double *global d)
{
    printf("%d %s %f\n", *d, *g, *d);
    printf("%p", g);
}
