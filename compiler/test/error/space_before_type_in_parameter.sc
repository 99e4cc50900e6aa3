// SPDX-License-Identifier: BSD-3-Clause
void f(global int *a);
void g(int spread *b, global char *c);
int h(int n, spread int *d)
{
    return n;
}
