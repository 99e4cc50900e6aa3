// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
int old();
int older(g, l) int *global g; int *l; { return *g + *l; }

int f(int *p, int *global g, int *spread s)
{
    int a[3];
    return old(p, g, s) + older(g, p) + older(0, a) + older(s, (int *)g, 1) + older((long)p, 0) + oldest(g);
}

int wrong(int *p, int *global g, int *spread s)
{
    int a[3];
    return older(p, g) + older(a, s);
}
