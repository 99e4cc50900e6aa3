// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int none[0]::[3];

static int count(int n)
{
    int A[n]::, B[n]::[n], i, seen = 0;

    for_my_1d(i, n)
        A[i] = B[i][0] = ++seen;
    barrier();
    return seen + (sizeof B[0] == n * sizeof(int)) * 100;
}

int splitc_main(void)
{
    EXPECT(count(0), 100);
    EXPECT(count(PROCS), 101);
    EXPECT(sizeof none[0], 12);
    EXPECT(none != NULL, 1);
    return failures;
}
