// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int counts[PROCS]::, *rows[PROCS]::, *global heads[PROCS]::;
long blocks[PROCS]::[3];

static long sum(const long *block, int n)
{
    long total = 0;

    for (int i = 0; i < n; i++)
        total += block[i];
    return total;
}

static int where(int *p)
{
    return toproc(p);
}

int splitc_main(void)
{
    int x = 7, wide = 3, calls = 0, *none = 0;
    int table[PROCS]::[2][wide], *first = tolocal(table), (*row)[wide] = tolocal(table[MYPROC]);
    long *block = tolocal(blocks);

    counts[MYPROC] = 10 * MYPROC;
    rows[MYPROC] = &x;
    heads[MYPROC] = toglobal((MYPROC + 1) % PROCS, &x);
    for (int i = 0; i < 3; i++)
        block[i] = first[i] = row[1][i] = MYPROC + i;
    barrier();

    EXPECT(tolocal(counts[MYPROC]), 10 * MYPROC);
    EXPECT(*tolocal(rows[MYPROC]), 7);
    EXPECT(tolocal(heads[MYPROC]) == &x, 1);
    EXPECT(tolocal(&x) == &x, 1);
    EXPECT(tolocal(0) == 0, 1);
    EXPECT(sum(tolocal(blocks), 3), 3 * MYPROC + 3);
    EXPECT(sum((tolocal(blocks[MYPROC])), 3), 3 * MYPROC + 3);
    EXPECT(*(first + 3 + 2), MYPROC + 2);
    EXPECT(tolocal(tolocal(heads[MYPROC])) == &x, 1);

    EXPECT(toproc(&x), MYPROC);
    EXPECT(where(&x), MYPROC);
    EXPECT(toproc(rows[(MYPROC + 1) % PROCS]), MYPROC);
    EXPECT(toproc(none), 0);
    EXPECT(toproc(heads[MYPROC]), (MYPROC + 1) % PROCS);
    EXPECT(toproc(blocks[PROCS - 1]), PROCS - 1);
    EXPECT(toproc(blocks), 0);
    EXPECT(toproc((long)heads[MYPROC]), (MYPROC + 1) % PROCS);
    EXPECT(toproc((calls++, &x)), MYPROC);
    EXPECT(calls, 1);
    barrier();
    return failures;
}
