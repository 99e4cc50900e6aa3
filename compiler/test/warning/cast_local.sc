// flags: -Wcast-local
#include <split-c/split-c.h>

static double A[PROCS]::[4];

double f(int *global g, int *spread s)
{
    int *meant = tolocal(g), *cast = (int *)g;
    double *block = (double *)A, *mine = tolocal(A[MYPROC]);
    return *meant + *cast + *(int *)(s + 1) + block[0] + mine[1] + (g != 0);
}
