// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

void mine(int a, int *global g);
int variable(const char *format, ...);

void f(int *global g, int x, void (*pointer)(int))
{
    barrier(1);
    store_sync();
    bulk_read(&x, g);
    bulk_get(&x, g, 4, 5);
    all_spread_malloc(PROCS * sizeof(int));
    mine(x);
    mine(x, g, g);
    variable();
    variable("%d", *g, x);
    pointer(1, 2);
}
