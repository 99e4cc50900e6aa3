// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static long total;

int splitc_main(void)
{
    long *global g = toglobal(0, &total), old;

    for (int i = 0; i < 100; i++)
        do
            old = *g;
        while (cmp_and_swap_l(g, old, old + (1L << 40)) != old);
    barrier();
    EXPECT(*g >> 40, 100 * PROCS);
    barrier();
    EXPECT(exchange_l(toglobal(MYPROC, &total), -1) != -1, 1);
    barrier();
    return failures;
}
