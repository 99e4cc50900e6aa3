// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int cell;

int splitc_main(void)
{
    int total = 0, *global g = toglobal(PROCS - 1, &cell), line;
    int list[] = {
#include "parts/table.h"
    };

    cell = 10 + MYPROC;
#include "parts/body.h"
#define DOUBLED
#include "parts/body.h"
    line = __LINE__;
    EXPECT(total, 3 * (9 + PROCS));
    EXPECT(line, 18);
    EXPECT(list[2] + sizeof list / sizeof *list, 6);
    barrier();
    return failures;
}
