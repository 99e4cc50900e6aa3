// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int cells[4];

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, cells), *global h = toglobal(0, cells);
    int a = 0, b = 0, c = 0, d = 0, i, v[4];

    for (i = 0; i < 4; i++)
        cells[i] = 10 * MYPROC + i + 1;
    barrier();
    if (PROCS)
        a := *g;
    else
        a := *h;
    PROCS ? (b := g[1]) : (b := h[1]);
    for (c := g[2], i = 0; i < 4; v[i] := h[i], i++)
        ;
    do
        d := g[3];
    while (0);
    sync();
    EXPECT(a, 10 * PROCS - 9);
    EXPECT(b, 10 * PROCS - 8);
    EXPECT(c, 10 * PROCS - 7);
    EXPECT(d, 10 * PROCS - 6);
    EXPECT(v[0] + v[1] + v[2] + v[3], 10);
    switch (0)
    default:
        a := *h;
    while (i--)
        v[i] := g[i];
    sync(), a += 0;
    EXPECT(a, 1);
    EXPECT(v[3], 10 * PROCS - 6);
    ({ b := h[1]; sync(); });
    EXPECT(b, 2);
    if (a := *g, sync(), a)
        EXPECT(a, 10 * PROCS - 9);
    barrier();
    return failures;
}
