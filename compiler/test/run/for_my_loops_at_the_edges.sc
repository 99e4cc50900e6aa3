// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int i, j, count = 0, pairs = 0;

    for_my_1d(i, 0)
        failures = 1;
    for_my_1d(i, 1)
        count++;
    EXPECT(count, MYPROC == 0);
    for_my_1d(i, PROCS - 1)
        EXPECT(i, MYPROC);
    for_my_2d(i, j, 0, 5)
        failures = 1;
    for_my_2d(i, j, 5, pairs)
        failures = 1;
    for_my_2d(i, j, 3, 1)
        EXPECT(j, 0);
    for_my_2d(i, j, 3, 7) {
        EXPECT((i * 7 + j) % PROCS, MYPROC);
        pairs++;
    }
    EXPECT(all_reduce_to_all_add(pairs), 21);
    return failures;
}
