// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <split-c/gather.h>
#include "../check.h"

int splitc_main(void)
{
    int squares[PROCS];
    double halves[PROCS];

    all_gather_i(squares, MYPROC * MYPROC);
    all_gather_d(halves, MYPROC / 2.0);
    for (int p = 0; p < PROCS; p++) {
        EXPECT(squares[p], p * p);
        EXPECT(2 * halves[p], p);
    }
    return failures;
}
