// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int A[]::[3];
int B[PROCS]::[];
extern int C[]::;
int f(int n, int fine[]::[n], int D[n][]::)
{
    return fine[0][0] + D[0][0];
}
