// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

void f(int *global g, struct none *p)
{
    store_sync(g);
    all_reduce_to_all_add(g);
    all_reduce_to_all_dadd(g);
    bulk_read(p->x, g, 4);
}
