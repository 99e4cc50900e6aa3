// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

union any {
    int *global g;
    int *spread s;
    int *p;
    long bits;
    struct { unsigned long address : 48, rank : 16; } parts;
};
union any shared;
static int cell;

int splitc_main(void)
{
    union any u = {toglobal(PROCS - 1, &cell)}, *p = &u;
    union any *global far = toglobal(MYPROC, &shared);

    cell = 3 + MYPROC;
    barrier();
    EXPECT(*u.g, 2 + PROCS);
    EXPECT(u.parts.rank, PROCS - 1);
    EXPECT(u.parts.address == (unsigned long)&cell, 1);
    EXPECT(*((union any){.bits = u.bits}).g, 2 + PROCS);
    EXPECT(*((union any)toglobal(PROCS - 1, &cell)).g, 2 + PROCS); /* of GNU C */
    p->g++;
    EXPECT(u.bits - (long)toglobal(PROCS - 1, &cell), sizeof(int));
    far->g = toglobal(0, &cell);
    EXPECT(*far->g, 3);
    EXPECT(*shared.g, 3);
    far->p = &cell;
    EXPECT(*shared.p, 3 + MYPROC);
    barrier();
    return failures;
}
