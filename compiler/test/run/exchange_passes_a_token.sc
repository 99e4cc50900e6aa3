// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int slot;

int splitc_main(void)
{
    int *global first = toglobal(0, &slot), old;

    old = exchange(first, MYPROC + 1);
    /* Every value but the last one is some processor's old value. */
    barrier();
    EXPECT(all_reduce_to_all_add(old) + *first, PROCS * (PROCS + 1) / 2);
    barrier();
    return failures;
}
