// SPDX-License-Identifier: BSD-3-Clause
// with: parts/arrays.sc
#include <split-c/split-c.h>
#include "../check.h"
#include "parts/arrays.h"

int splitc_main(void)
{
    int i;

    for_my_1d(i, COUNT)
        scattered[i] = i;
    blocks[MYPROC][ROW - 1] = 3 * MYPROC;
    *mine() = 5 + MYPROC;
    barrier();
    EXPECT(sum_scattered(), COUNT * (COUNT - 1) / 2);
    EXPECT(last_of(PROCS - 1), 3 * (PROCS - 1));
    EXPECT(hidden(PROCS - 1), 4 + PROCS);
    EXPECT(sizeof blocks[0], ROW * sizeof(double));
    EXPECT(toproc(&scattered[1]), 1 % PROCS);
    barrier();
    return failures;
}
