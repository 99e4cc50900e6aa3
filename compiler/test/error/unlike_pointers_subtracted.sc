// SPDX-License-Identifier: BSD-3-Clause
long between(int *global g, double *global d, void *global v, const int *global c, unsigned *global u)
{
    return (g - d) + (g - c) + (g - v) + (g - u);
}
