// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static struct __attribute__((packed)) tight { char c; long l; short s; double d; } cell;

int splitc_main(void)
{
    struct tight *global g = toglobal((MYPROC + 1) % PROCS, &cell), copy;

    g->l = 1L << 40 | MYPROC;
    g->d = 0.5;
    g->s := -7;
    g->c :- 'x';
    sync();
    all_store_sync();
    copy = *g;
    EXPECT(copy.l == (1L << 40 | MYPROC) && copy.c == 'x', 1);
    EXPECT(cell.s, -7);
    EXPECT(4 * (g->d += 0.25), 3);
    EXPECT(g->l++ == (1L << 40 | MYPROC), 1);
    EXPECT(sizeof *g, 19);
    barrier();
    return failures;
}
