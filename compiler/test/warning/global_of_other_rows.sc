// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int table[3][4];
void f(int n)
{
    int (*global right)[4] = toglobal(0, table);
    int (*global wrong)[3] = toglobal(0, table);
    int (*global open)[n] = toglobal(0, table);
    int *global flat = toglobal(0, table);
    (void)right, (void)wrong, (void)open, (void)flat;
}
