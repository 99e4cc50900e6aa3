// SPDX-License-Identifier: BSD-3-Clause
struct node {
    int key;
};

int compared(int *global g, double *global d, void *global v, int *spread s, int (*spread b)[3])
{
    return (g == d) + (d < g) + (g == v) + (g == s) + (d == s) + (s == *b) + (b == s) + (g == 0);
}

void *global chosen(int n, struct node *global p, int *global g)
{
    return n ? p : n > 1 ? g : n > 2 ? &p->key : p;
}
