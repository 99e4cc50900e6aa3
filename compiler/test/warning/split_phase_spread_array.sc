#include <split-c/split-c.h>

static double A[PROCS]::[8];

double f(int i)
{
    A[i][2] := 1.0;
    A[i][3] = 2.0;
    return A[i][2];
}
