// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c/split-c.h>
#include "../check.h"

/* int (*f)() takes whatever it is given: far pointers, too. */
int cells[4];
int (*table[2])();

at(g, i)
int *global g;
{
    return g[i];
}

last(s, n)
int *spread s;
{
    return s[n - 1];
}

apply(f, p, n)
int (*f)();
int *global p;
{
    return (*f)(p, n);
}

splitc_main()
{
    int *spread s = all_spread_malloc(PROCS, sizeof(int));
    int i, (*f)() = at, (*(*g)())();

    for (i = 0; i < 4; i++)
        cells[i] = 10 * MYPROC + i;
    s[MYPROC] = MYPROC + 3;
    table[0] = at, table[1] = last;
    barrier();
    EXPECT(f(toglobal(PROCS - 1, cells), 2), 10 * PROCS - 8);
    EXPECT((*table[1])(s, PROCS), PROCS + 2);
    EXPECT(apply(at, toglobal(0, cells), 3), 3);
    EXPECT((PROCS ? f : last)(toglobal(0, cells), 1), 1);
    g = 0;
    EXPECT(!g, 1);
    all_spread_free(s);
    return failures;
}
