// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int cell;

static unsigned hash(unsigned long key)
{
    return key % 101;
}

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, &cell), *global back;
    long bits = (long)g;
    unsigned long key = (unsigned long)g;
    int *spread s = (int *spread)bits;

    cell = 8 + MYPROC;
    barrier();
    back = (int *global)bits;
    EXPECT(back == g && *back == 7 + PROCS, 1);
    EXPECT(toproc((int *global)key), PROCS - 1);
    EXPECT((long)s == bits, 1);
    EXPECT(hash((unsigned long)g) == hash(key), 1);
    EXPECT((long)(int *global)0, 0);
    EXPECT(key - (unsigned long)toglobal(PROCS - 1, (char *)&cell - 4), 4);
    barrier();
    return failures;
}
