// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    for (int i = 0; i < 3)
        *g = i;
    for *g;
    for (;;
        *g = 1;
    return *g;
}
