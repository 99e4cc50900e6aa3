// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int cell, A[PROCS]::;

int splitc_main(void)
{
    int *global g = &cell, *global none = NULL, *global last = toglobal(PROCS - 1, &cell);
    int *spread s = A, *spread nowhere = 0, *p = &cell;

    EXPECT(g == p && p == g && !(g != p), 1);
    EXPECT(none == NULL && NULL == none && none == 0 && !none && none == (void *)0, 1);
    EXPECT(nowhere == NULL && !nowhere && s != NULL && 0 != s, 1);
    EXPECT((last == g) == (PROCS - 1 == MYPROC), 1);
    EXPECT((p ? g : none) == g && (p ? none : g) == NULL, 1);
    EXPECT((p ? NULL : g) == NULL && (!p ? g : 0) == 0, 1);
    EXPECT((s ? s : nowhere) == A && A == s, 1);
    EXPECT((s && g && p) + (none || nowhere), 1);
    EXPECT((int *global)s == (int *global)&A[0], 1);
    EXPECT(&A[PROCS - 1] == (int *global)(s + PROCS - 1), 1);
    EXPECT(g < g + 1 && g + 1 > g && g <= g && g >= g && !(g < g), 1);
    EXPECT((p ? p : (int *global)0) == g, 1);
    EXPECT(none ? 1 : nowhere ? 2 : s ? 3 : 4, 3);
    if (!last || !s)
        failures = 1;
    do
        none = none ? NULL : g;
    while (!none);
    EXPECT(none == p, 1);
    barrier();
    return failures;
}
