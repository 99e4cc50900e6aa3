// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    char a = 'ab;
    int b = *g + '\x41;
    if (*g == 'd) { return 1; }
    return a + b + missing;
}
