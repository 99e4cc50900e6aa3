#include <split-c/split-c.h>
#include "../check.h"

struct large {
    long before[20];
    unsigned a : 5;
    int b : 7;
    long after[20];
};

static struct large A[PROCS]::;

int splitc_main(void)
{
    struct large *global next = &A[(MYPROC + 1) % PROCS];

    A[MYPROC].a = A[MYPROC].b = 0;
    A[MYPROC].before[19] = A[MYPROC].after[0] = -1;
    barrier();
    next->a = 17;
    next->b -= MYPROC + 2;
    next->a++;
    barrier();
    EXPECT(A[MYPROC].a, 18);
    EXPECT(A[MYPROC].b, -(MYPROC + PROCS - 1) % PROCS - 2);
    EXPECT(A[MYPROC].before[19], -1);
    EXPECT(A[MYPROC].after[0], -1);
    return failures;
}
