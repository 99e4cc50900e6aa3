// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
int f(g, n, X)
int *global g
int n;
int X[n]::[2], *spread Y;
{
    return g[n] + X[0][1] + missing;
}
