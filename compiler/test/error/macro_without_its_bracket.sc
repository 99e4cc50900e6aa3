// SPDX-License-Identifier: BSD-3-Clause
#define TWICE(x) (2 * x

int f(int *global g)
{
    return TWICE(*g);
}

int h(int *global g)
{
    return missing + *g;
}
