// SPDX-License-Identifier: BSD-3-Clause
//
// A parameter that is declared as a spread array is a spread pointer.
#include <split-c/split-c.h>
#include "../check.h"

int A[PROCS]::, B[PROCS]::[2], C[PROCS]::[2];

static int sum(int n, int X[]::)
{
    int s = 0;

    while (n--)
        s += *X++;
    return s;
}

static int second_of_swapped(int X[PROCS]::[2], int Y[PROCS]::[2])
{
    int (*spread t)[2];

    t = X;
    X = Y;
    Y = t;
    (X)++;
    X += PROCS - 1;
    X -= PROCS;
    return X[PROCS - 1][1] * 100 + Y[0][1];
}

int splitc_main()
{
    A[MYPROC] = MYPROC + 1;
    B[MYPROC][1] = 10 + MYPROC;
    C[MYPROC][1] = 20 + MYPROC;
    barrier();
    EXPECT(sum(PROCS, A), PROCS * (PROCS + 1) / 2);
    EXPECT(second_of_swapped(B, C), (20 + PROCS - 1) * 100 + 10);
    barrier();
    return failures;
}
