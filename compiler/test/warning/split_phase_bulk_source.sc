#include <split-c/split-c.h>

double f(double *global g, double *p)
{
    double a[8] = {0};
    bulk_put(g, a, sizeof a);
    double sum = a[3];
    a[3] = 1;
    bulk_put(g, p, 8);
    sum += p[0];
    p[1] = 2;
    p[0] = 3;
    return sum;
}
