// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89 -Wno-int-conversion
#include <split-c/split-c.h>
#include "../check.h"

/* Programs mark ends and what is not known yet by numbers. */
int *global end = -1;
int *spread none;
int three = 3;
long minus = -1;
int A[PROCS]::;

int *global choose(yes)
{
    return yes ? &A[MYPROC] : -1;
}

splitc_main()
{
    int *global p = &A[MYPROC];

    none = -1;
    EXPECT(end == -1, 1);
    EXPECT(-1 != end, 0);
    EXPECT(end == minus, 1);
    EXPECT(none == -1, 1);
    EXPECT(p == -1, 0);
    EXPECT(p != three, 1);
    EXPECT(choose(0) == -1, 1);
    EXPECT(choose(1) == -1, 0);
    EXPECT(choose(1) == p, 1);
    p = 3;
    EXPECT(p == three, 1);
    EXPECT(p > 2, 1);
    return failures;
}
