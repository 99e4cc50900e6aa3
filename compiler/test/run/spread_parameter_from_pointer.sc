#include <split-c/split-c.h>
#include "../check.h"

static int first(int n, int X[n]::[3])
{
    return X[n - 1][2];
}

static int raw(int *spread p)
{
    return *p;
}

// An element pointer where a block's is expected, and back.
int splitc_main(void)
{
    int A[PROCS]::[3];
    int *spread flat = A;
    void *spread v = A;
    int(*spread block)[3] = flat;

    A[MYPROC][0] = MYPROC;
    A[MYPROC][2] = -MYPROC;
    barrier();
    EXPECT(first(PROCS, flat), 1 - PROCS);
    EXPECT(first(PROCS, v), 1 - PROCS);
    EXPECT(first(PROCS, block), 1 - PROCS);
    EXPECT(raw(A + PROCS - 1), PROCS - 1);
    EXPECT(raw(A), 0);
    EXPECT(raw(block), 0);
    EXPECT(raw((int *spread)(A + PROCS - 1)), PROCS - 1);
    barrier();
    return failures;
}
