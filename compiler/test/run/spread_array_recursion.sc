#include <split-c/split-c.h>
#include "../check.h"

// Each activation has an array of its own.
static int depth(int n)
{
    int A[PROCS]::[2];
    int below;

    A[MYPROC][1] = n;
    below = n ? depth(n - 1) : 0;
    barrier();
    EXPECT(A[PROCS - 1][1], n);
    return below + A[MYPROC][1];
}

int splitc_main(void)
{
    EXPECT(depth(10), 55);
    return failures;
}
