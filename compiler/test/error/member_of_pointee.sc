// SPDX-License-Identifier: BSD-3-Clause
struct s {
    int a;
} *global g;
struct s A[4]::[2];

int f(int *global n, void *global v)
{
    n->a = 1;
    (*n).a = 2;
    g.a = 3;
    A[0].a = 4;
    A[0][1].b = 5;
    A[0][1][2].a = 6;
    *v = 7;
    return 0;
}
