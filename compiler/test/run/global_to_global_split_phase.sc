#include <split-c/split-c.h>
#include "../check.h"

int from, to;

// Both sides global: the right one is read, the left one put.
int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS;

    from = 10 + MYPROC;
    to = 0;
    barrier();
    *toglobal(next, &to) := *toglobal(PROCS - 1, &from);
    sync();
    barrier();
    EXPECT(to, 9 + PROCS);
    barrier();
    *toglobal(next, &to) = *toglobal(next, &from);
    barrier();
    EXPECT(to, 10 + MYPROC);
    return failures;
}
