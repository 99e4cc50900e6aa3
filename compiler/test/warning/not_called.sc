// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int sync_all(void);

void f(int *p)
{
    barrier;
    if (MYPROC == 0)
        store_sync;
    (all_store_sync);
    (void)sync_all;
    *p = 1, sync();
    sync_all;
}
