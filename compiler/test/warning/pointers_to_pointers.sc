// SPDX-License-Identifier: BSD-3-Clause
void f(int *global *p, int *spread *q, int **r, int *global *global far)
{
    p = q;
    p = r;
    far = p;
    far = r;
    p = far;
}
