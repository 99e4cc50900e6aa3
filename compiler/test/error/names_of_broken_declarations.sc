// SPDX-License-Identifier: BSD-3-Clause
int *global 5, *wrong, worse = 3;

int f(int *global g)
{
    int a[3, b = 1;
    int *global h = g g;
    double d = 1.5 +;

    a[0] = b + d + *h + *wrong + worse;
    return missing;
}
