// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    if (*g)
        *g = 1;
        *g = 2;
    else
        *g = 3;
    return missing;
}
