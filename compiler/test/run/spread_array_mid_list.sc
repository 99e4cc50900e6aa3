#include <split-c/split-c.h>
#include "../check.h"

static int size(int *calls, int n)
{
    ++*calls;
    return n;
}

int splitc_main(void)
{
    int calls = 0, n = PROCS, a = n + 1, A[a]::[n], b = a * 2, B[size(&calls, n)]::[b], *c = &b,
        *spread p = &A[0][0] == 0 ? 0 : A, C[n][n]::, d = *c;

    EXPECT(calls, 1);
    EXPECT(b + d, 4 * (n + 1));
    EXPECT(sizeof B[0], 2 * (n + 1) * sizeof(int));
    EXPECT(calls, 1);
    A[MYPROC][n - 1] = 1;
    B[MYPROC][b - 1] = 2;
    C[MYPROC][n - 1] = 3;
    barrier();
    for (int i = 0; i < n; i++)
        EXPECT(A[i][n - 1] + B[i][b - 1] + C[i][n - 1], 6);
    EXPECT(p == A, 1);
    barrier();
    return failures;
}
