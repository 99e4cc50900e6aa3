// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    double *spread base = all_spread_malloc(4 * PROCS, sizeof(double));
    double *spread last = base + 4 * PROCS - 1, *spread p = base + (PROCS - 1);

    EXPECT(toproc(p), PROCS - 1);
    p++;
    EXPECT(toproc(p), 0);
    EXPECT(tolocal(p) - tolocal(base), 1);
    --p;
    EXPECT(toproc(p), PROCS - 1);
    EXPECT(tolocal(p) == tolocal(base), 1);
    EXPECT(toproc(last) == PROCS - 1 && tolocal(last) - tolocal(base) == 3, 1);
    EXPECT(last - base, 4 * PROCS - 1);
    EXPECT(base - last, 1 - 4 * PROCS);
    EXPECT(last + -(4 * PROCS - 1) == base, 1);
    EXPECT(&last[-1] == (double *global)(last - 1), 1);
    all_spread_free(base);
    return failures;
}
