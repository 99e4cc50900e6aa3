// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <stddef.h>
#include "../check.h"

int splitc_main(void)
{
    float *global f = toglobal(0, 0);
    void *global v = toglobal(0, NULL);
    int *spread s = tospread(0, 0);

    EXPECT(f == 0, 1);
    EXPECT(v == NULL, 1);
    EXPECT(s == NULL, 1);
    EXPECT(toproc(toglobal(PROCS - 1, 0)), PROCS - 1);
    EXPECT(tolocal(toglobal(PROCS - 1, 0)) == NULL, 1);
    return failures;
}
