// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

struct cell { char tag; double value; struct { short low : 5, high : 11; } bits; };

int splitc_main(void)
{
    struct cell *spread cells = all_spread_malloc(2 * PROCS, sizeof(struct cell)), *spread c;

    for (c = cells + MYPROC; c < cells + 2 * PROCS; c += PROCS) {
        c->tag = 'a' + MYPROC;
        c->value = c - cells;
        c->bits.high = -MYPROC;
        (*c).bits.low = 3;
    }
    barrier();
    c = cells + 2 * PROCS - 1;
    EXPECT(c->tag, 'a' + PROCS - 1);
    EXPECT(c--->value, 2 * PROCS - 1);
    EXPECT(c[1].bits.high + c[1].bits.low, 4 - PROCS);
    EXPECT((&c[1])->tag == (c + 1)->tag, 1);
    barrier();
    all_spread_free(cells);
    return failures;
}
