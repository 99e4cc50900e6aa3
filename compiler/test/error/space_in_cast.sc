// SPDX-License-Identifier: BSD-3-Clause
int f(void *global v, long n)
{
    int *p = (global int *)v;
    return *(int *global spread)n + *(int *global)v + missing;
}
