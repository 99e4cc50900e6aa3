// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static inline int *global counter(int p)
{
    static int counters[PROCS]::;
    return &counters[p];
}

static inline void count(int p)
{
    static int calls;
    fetch_add(counter(p), 1);
    calls++;
}

int splitc_main(void)
{
    for (int p = 0; p < PROCS; p++)
        count(p);
    barrier();
    EXPECT(*counter(MYPROC), PROCS);
    EXPECT(toproc(counter(PROCS - 1)), PROCS - 1);
    barrier();
    return failures;
}
