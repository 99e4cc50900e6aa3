// SPDX-License-Identifier: BSD-3-Clause
// flags: -Wall
#include <split-c/split-c.h>

void f(double *global d, long *global l, unsigned *global u, int *spread s)
{
    fetch_add(d, 1);
    fetch_add(l, 1);
    exchange(u, 1);
    fetch_add(s, 1);
    splitc_lock(5);
}
