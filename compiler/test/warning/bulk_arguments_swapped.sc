// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

void f(int *global g, int x)
{
    bulk_read(g, &x, sizeof x);
    bulk_write(&x, g, sizeof x);
    bulk_get(g, g, sizeof x);
    sync();
}
