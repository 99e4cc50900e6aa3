// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 3
#include <split-c/split-c.h>
#include "../check.h"

/* 64 MiB each: those that stay would fill the spread space. */
#define BIG 8000000

int splitc_main(void)
{
    int i = 0, v;

again:
    {
        double A[PROCS]::[BIG];
        A[MYPROC][0] = i;
        switch (i % 3) {
        case 0:
            break;
        case 1:
            if (++i < 300)
                goto again;
        default:;
        }
    }
    v = ({ double C[PROCS]::[BIG]; C[MYPROC][1] = i; (int)C[MYPROC][1]; });
    EXPECT(v, i);
    if (++i < 300)
        goto again;
    EXPECT(i, 300);
    return failures;
}
