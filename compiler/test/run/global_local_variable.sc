#include <split-c/split-c.h>
#include "../check.h"

int value;

int splitc_main(void)
{
    value = 10 * MYPROC + 1;
    barrier();
    int *global g = toglobal((MYPROC + 1) % PROCS, &value);
    EXPECT(*g, 10 * ((MYPROC + 1) % PROCS) + 1);
    EXPECT(toproc(g), (MYPROC + 1) % PROCS);
    EXPECT(tolocal(g) == &value, 1);
    barrier();
    return failures;
}
