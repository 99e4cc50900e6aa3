// flags: -std=gnu89
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main()
{
    int *spread A = all_spread_malloc(2 * PROCS, sizeof(int));
    int B[PROCS]::[2];
    extern int *spread advance();
    int *(*f)() = 0;

    A[MYPROC] = 4 * MYPROC;
    B[MYPROC][1] = 6;
    barrier();
    EXPECT(last(A, PROCS), 4 * (PROCS - 1));
    EXPECT(second(B), 6);
    EXPECT(last(advance(A, -1), PROCS + 1), 4 * (PROCS - 1));
    EXPECT(second((void *spread)B), 6);
    EXPECT(f == 0, 1);
    barrier();
    undeclared_void(A + MYPROC);
    EXPECT(A[MYPROC], -1);
    all_spread_free(A);
    return failures;
}

last(p, n)
int *spread p;
{
    return p[n - 1];
}

int second(X)
int X[PROCS]::[2];
{
    return X[PROCS - 1][1];
}

int *spread advance(p, by)
int *spread p;
{
    return p + by;
}

undeclared_void(int *global p)
{
    *p = -1;
}
