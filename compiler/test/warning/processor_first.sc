// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int *global g;
int *spread s;

void f(int *p, int proc)
{
    g = toglobal(p, 0);
    s = tospread(p, p);
    g = toglobal(proc, p);
    s = tospread(0, NULL);
}
