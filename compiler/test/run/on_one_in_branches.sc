// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int seen = 0;

    if (PROCS > 0)
        on_one seen = 1;
    if (PROCS < 0)
        seen = 7;
    else
        on_proc(PROCS - 1) seen += 2;
    for (int i = 0; i < 2; i++)
        on_one
            if (i)
                seen += 4;
    on_one
        for (int i = 0; i < 2; i++)
            seen += 8;
    EXPECT(seen, 21 * (MYPROC == 0) + 2 * (MYPROC == PROCS - 1));
    return failures;
}
