// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    int __attribute__((unused)  x = *g;
    return x;
}

int h(int *global g)
{
    return missing + *g;
}
