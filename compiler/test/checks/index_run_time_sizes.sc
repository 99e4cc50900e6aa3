// ranks: 3
#include <split-c/split-c.h>

static int last(int n, int m, int A[n]::[m])
{
    return A[n - 1][m];
}

int splitc_main(void)
{
    int A[2 * PROCS]::[PROCS + 1];
    return last(2 * PROCS, PROCS + 1, A);
    barrier();
    return 0;
}
