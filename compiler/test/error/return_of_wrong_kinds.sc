// SPDX-License-Identifier: BSD-3-Clause
struct s {
    int a;
} t;

int *global f(double d, char **list)
{
    if (d > 1)
        return d;
    if (d > 2)
        return t;
    return list ? 1.5 : 2;
}
