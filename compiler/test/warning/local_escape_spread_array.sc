#include <split-c/split-c.h>

static double A[PROCS]::[4];

double *f(void)
{
    double *p = A[MYPROC];
    return p;
}
