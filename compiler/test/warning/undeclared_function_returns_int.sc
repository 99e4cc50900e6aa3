// SPDX-License-Identifier: BSD-3-Clause
int f(int n)
{
    int *spread s = make(n);
    int *global g = (find(n));

    g = find(n) + 1;
    return *s + *g;
}
