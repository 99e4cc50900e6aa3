// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

struct s {
    int a;
} s;

int f(int *global g)
{
    int *p = tolocal(2.0);
    p = tolocal(s);
    p = tolocal(g, 1);
    return toproc(2.0) + toproc(s) + toproc() + (toproc)(g);
}
