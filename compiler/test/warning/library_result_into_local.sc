// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int f(int cell)
{
    int *p = all_spread_malloc(PROCS, sizeof(int)), *q;

    q = toglobal(1, &cell);
    return *p + *q;
}
