// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int A[]::[3];
int B[PROCS]::[];
extern int C[3][]::;
int f(int n, int fine[]::[n], int D[n][]::)
{
    return fine[0][0] + D[0][0];
}
extern int fine_too[]::[2];
int size(int open[]::[2])
{
    return sizeof fine_too + sizeof open + sizeof fine_too[0];
}
