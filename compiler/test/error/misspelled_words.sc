// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int f(int *global g)
{
    strcut point here;
    unsinged n = 1;
    whlie (n)
        n--;
    if (MYPORC == 0)
        retrun *g;
    retrun 5;
    here.x = n;
}
