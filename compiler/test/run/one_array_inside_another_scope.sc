// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

/* The inner one hides the outer one, and is gone when its scope is left. */
int splitc_main(void)
{
    int A[PROCS]::, *spread outer = A;

    A[MYPROC] = 1;
    {
        double A[2 * PROCS]::[2];

        A[MYPROC][1] = 2.5;
        EXPECT(sizeof A[0], 16);
        EXPECT(2 * A[MYPROC][1], 5);
        EXPECT((long)outer != (long)A, 1);
        for (int A = 0; A < 2; A++)
            EXPECT(A < 2, 1);
    }
    EXPECT(A[MYPROC] + sizeof A[0], 5);
    EXPECT(outer == A, 1);
    barrier();
    return failures;
}
