// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
int old();
int older(g) int *global g; { return *g; }

int f(int *p, int *global g, int *spread s)
{
    return old(p, g, s) + older(p) + older(g) + older(s, 1) + oldest(g);
}
