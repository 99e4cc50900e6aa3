// SPDX-License-Identifier: BSD-3-Clause
int a[] = {1, 2;
int f(int *global g)
{
    int b[2] = {*g, a[0]};
    return b[0] + missing;
}
