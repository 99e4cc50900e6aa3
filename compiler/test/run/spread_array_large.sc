// ranks: 2
#include <split-c/split-c.h>
#include "../check.h"

#define N 1000000

static long sum(double *p)
{
    double total = 0;
    for (long i = 0; i < N; i++)
        total += p[i];
    return total;
}

int splitc_main(void)
{
    double A[PROCS]::[N], B[PROCS]::[N];
    double *a = tolocal(A[MYPROC]), *b = (double *)&B[MYPROC][0];

    for (long i = 0; i < N; i++)
        a[i] = 1, b[i] = 2;
    barrier();
    EXPECT(sum(a), N);
    EXPECT(sum(b), 2L * N);
    EXPECT(A[PROCS - 1][N - 1], 1);
    EXPECT(B[0][N - 1], 2);
    barrier();
    return failures;
}
