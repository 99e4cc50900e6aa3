// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    int a = *g ? 1;
    return a ? *g : ;
}
