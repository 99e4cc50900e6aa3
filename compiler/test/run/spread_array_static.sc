#include <split-c/split-c.h>
#include "../check.h"

static int *spread counters(void)
{
    static int A[PROCS]::;
    return A;
}

static int bump(int by)
{
    static int calls = 0, A[2 * PROCS]::, last;
    last = by;
    calls++;
    A[MYPROC + PROCS] += by;
    return A[MYPROC + PROCS] + 0 * calls * last;
}

int splitc_main(void)
{
    counters()[MYPROC] = MYPROC + 1;
    EXPECT(bump(3), 3);
    EXPECT(bump(4), 7);
    barrier();
    EXPECT(counters()[PROCS - 1], PROCS);
    EXPECT(toproc(&counters()[PROCS - 1]), PROCS - 1);
    barrier();
    return failures;
}
