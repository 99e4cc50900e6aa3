#include <split-c/split-c.h>

double f(double *global g, long i)
{
    double a[4], *p = a;
    a[0] := g[0];
    a[1] := g[1];
    a[i] := g[2];
    p[2] := g[2];
    double sum = a[2] + a[i + 1];
    sum += a[1];
    sum += a[i];
    sum += *a;
    return sum + p[2];
}
