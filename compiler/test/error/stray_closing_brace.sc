// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    if (*g)
        return 1;
    }
    return 2;
}

int h(int *global g)
{
    return missing;
}
