// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static volatile int ready;
static int value;

/* A ring: each waits for its left neighbour, then tells its right one. */
int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS;

    if (MYPROC > 0)
        while (!ready)
            splitc_poll();
    if (right != 0) {
        *toglobal(right, &value) = value + 1;
        *toglobal(right, &ready) = 1;
    }
    barrier();
    EXPECT(value, MYPROC);
    return failures;
}
