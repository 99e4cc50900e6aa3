#include <split-c/split-c.h>
#include "../check.h"

extern int A[PROCS]::[2];

static int read(int p)
{
    return A[p][1];
}

int A[PROCS]::[2];

int splitc_main(void)
{
    extern int A[PROCS]::[2];
    A[MYPROC][1] = 5 * MYPROC;
    barrier();
    for (int p = 0; p < PROCS; p++)
        EXPECT(read(p), 5 * p);
    barrier();
    return failures;
}
