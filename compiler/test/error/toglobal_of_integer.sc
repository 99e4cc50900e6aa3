// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

void f(int p, double d)
{
    int *global g = toglobal(p, 4096);
    g = tospread(p, d);
    g = toglobal(p, *g);
}
