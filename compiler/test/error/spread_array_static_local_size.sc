// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

static const int known = 4;
int f(int n)
{
    static int fine[PROCS]::[sizeof(int)], A[n]::, B[PROCS]::[n + 1];
    static int fine_too[known]::;
    extern int C[2 * n]::;
    return A[0] + B[0][0] + C[0] + fine[0][0] + fine_too[0];
}
