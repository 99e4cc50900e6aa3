// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

static int sum(int n; int a[n], int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s + sizeof(a[0]);
}
static int rows(int r, int c, double m[r][c], double (*p)[c], int q[static 2], int z[const], int u[*]);
static int rows(int r, int c, double m[restrict r][c], double (*p)[c], int q[static r], int z[const 3], int u[c + 1])
{
    return sizeof m[0] + sizeof *p + q[1] + z[0] + u[0] + (int)(&m[1][0] - &m[0][0]);
}

int main(void)
{
    int a[] = { 1, 2, 3 };
    double m[2][5];
    printf("%d %d\n", sum(a, 3), rows(2, 5, m, m, a, a, a));
    return 0;
}
