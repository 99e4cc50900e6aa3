// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    int a = ({ int b = *g; b; };
    return a + missing;
}
