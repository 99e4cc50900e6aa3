// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

/* Programs rename the words, or hide them from other compilers. */
#define shared global
#define GLOBAL global
#define SPREAD spread
#define PTR(T) T *GLOBAL
#define NOTHING
typedef PTR(double) far_double;
#define GET :=
#define PUT(p, v) (*(p) := (v))
#define SIGNAL(p, v) *(p) :- v
#define SPREAD_ARRAY(T, name, n) T name[n]::
#define OF ::

double cell;
SPREAD_ARRAY(int, table, PROCS);
int blocks[PROCS]OF[2];

int splitc_main(void)
{
    double *shared a = toglobal(PROCS - 1, &cell), x;
    PTR(double) b = a;
    far_double NOTHING c = b;
    int *SPREAD s = table;

    cell = 1.5;
    barrier();
    x GET *c;
    sync();
    EXPECT(2 * x, 3);
    barrier();
    on_one PUT(a, 2.5);
    sync();
    barrier();
    EXPECT(2 * *b, 5);
    SIGNAL(s + (MYPROC + 1) % PROCS, 7);
    store_sync(sizeof(int));
    EXPECT(table[MYPROC], 7);
    blocks[MYPROC][1] = 3;
    EXPECT(blocks[MYPROC][1], 3);
    return failures;
}
