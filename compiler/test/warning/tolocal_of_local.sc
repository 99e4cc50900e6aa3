// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int A[PROCS]::, *B[PROCS]::, n;
long C[PROCS]::[3];

int f(int *p, long t, int *global g)
{
    int D[PROCS]::[t], (*rows)[t] = tolocal(D), *first = tolocal(D), *third = (tolocal(D[MYPROC]));
    const long *c = tolocal(C);
    double *wrong = (double *)tolocal(C);
    n = tolocal(A[MYPROC]);
    p = tolocal(B[MYPROC]);
    p = tolocal(p);
    p = tolocal(g);
    p = tolocal(0);
    p = tolocal(0);
    p = tolocal(&n) + tolocal(t);
#pragma GCC diagnostic ignored "-Wtolocal"
    p = tolocal(p);
    return toproc(A[0]) + toproc(t) + toproc(p) + toproc(0) + (*rows)[0] + *first + *third + *c + *wrong;
}
