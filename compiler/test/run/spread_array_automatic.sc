#include <split-c/split-c.h>
#include "../check.h"

static int fill_and_sum(int n, int q)
{
    int total = 0, A[n]::[q], i, k;

    for_my_1d(i, n)
        for (k = 0; k < q; k++)
            A[i][k] = i * q + k;
    barrier();
    for (i = 0; i < n; i++)
        for (k = 0; k < q; k++)
            total += A[i][k];
    n = 0; // the sizes are those of the declaration
    q = 0;
    barrier();
    if (sizeof A[0] / sizeof(int) == 0)
        return -1;
    return total + A[1][1] - A[0][1];
}

int splitc_main(void)
{
    for (int round = 0; round < 20; round++)
        EXPECT(fill_and_sum(2 * PROCS + round, 3),
               3 * (2 * PROCS + round) * (3 * (2 * PROCS + round) - 1) / 2 + 3);
    barrier();
    return failures;
}
