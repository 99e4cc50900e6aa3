// SPDX-License-Identifier: BSD-3-Clause
typedef int *global far;
int far(int x);
double far;
far f(far g)
{
    int far = 3;
    far h = g;
    return g;
}
