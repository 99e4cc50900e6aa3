// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <stdlib.h>
#include "../check.h"

static int keys[4];

/* Comparing what global pointers point to, from a callback of libc. */
static int by_key(const void *a, const void *b)
{
    int *global const *x = a, *global const *y = b;

    return **x - **y;
}

int splitc_main(void)
{
    int *global all[4 * PROCS], n = 0;

    for (int i = 0; i < 4; i++)
        keys[i] = (7 * (4 * MYPROC + i)) % (4 * PROCS + 1);
    barrier();
    for (int p = 0; p < PROCS; p++)
        for (int i = 0; i < 4; i++)
            all[n++] = toglobal(p, &keys[i]);
    qsort(all, n, sizeof all[0], by_key);
    for (int i = 1; i < n; i++)
        EXPECT(*all[i - 1] <= *all[i], 1);
    barrier();
    return failures;
}
