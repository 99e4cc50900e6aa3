// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int element(int m, int X[]::[m], int i, int j)
{
    return X[i][j] + sizeof X[i] / sizeof X[i][0];
}

static int scalar(int X[]::, int i)
{
    return X[i];
}

int splitc_main(void)
{
    int A[PROCS]::[4], B[PROCS]::;

    A[MYPROC][3] = 10 * MYPROC;
    B[MYPROC] = MYPROC;
    barrier();
    EXPECT(element(4, A, PROCS - 1, 3), 10 * (PROCS - 1) + 4);
    EXPECT(scalar(B, PROCS - 1), PROCS - 1);
    barrier();
    return failures;
}
