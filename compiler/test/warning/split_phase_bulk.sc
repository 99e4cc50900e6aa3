#include <split-c/split-c.h>

double f(double *global g, double *p)
{
    double a[8], b[8], c;
    bulk_get(a, g, sizeof a);
    bulk_get(b, g, 2 * sizeof b[0]);
    bulk_get(&c, g, sizeof c);
    bulk_get(p, g, 16);
    double sum = b[5] + a[5];
    sum += b[0] + c;
    sum += *p;
    return sum;
}
