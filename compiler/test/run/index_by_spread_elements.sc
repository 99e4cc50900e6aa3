// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int n = 2 * PROCS, next[n]::, value[n]::[2], i, at, sum = 0;

    for_my_1d(i, n) {
        next[i] = (i + 1) % n;
        value[i][next[i] % 2] = i;
        value[i][!(next[i] % 2)] = -i;
    }
    barrier();
    for (i = 0, at = 0; i < n; i++, at = next[at])
        sum += value[next[next[at]]][1 - next[at] % 2];
    EXPECT(next[next[next[0]]], 3 % n);
    EXPECT(value[next[n - 1]][1] + value[n - 1][0], n - 1);
    EXPECT(at, 0);
    barrier();
    value[next[MYPROC]][0] = sum;
    *(&next[MYPROC]) += 0;
    *(next + MYPROC) = next[MYPROC + 0 * next[0]];
    (*(value + MYPROC))[1]++;
    barrier();
    return failures;
}
