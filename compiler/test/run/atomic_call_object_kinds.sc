#include <split-c/split-c.h>
#include "../check.h"

static int increment(int *p)
{
    return ++*p;
}

/* The object as a global pointer: it knows its owner. */
static int owner(int *global p, int *spread q)
{
    return toproc(p) * 100 + toproc(q);
}

static int *global follow(int *global *p)
{
    return *p;
}

static void sum(double *p, int n, const double *unused)
{
    for (int i = 1; i < n; i++)
        p[0] += p[i];
}

static int local_cell, target;
int *global link;
static double row[3] = {1, 2, 4};
static int A[8]::;

int splitc_main(void)
{
    int *spread s = &A[0], stack = 5, next = (MYPROC + 1) % PROCS;

    EXPECT(atomic(increment, &local_cell), 1);
    EXPECT(atomic(increment, &stack), 6);
    link = toglobal(MYPROC, &target);
    barrier();
    EXPECT(atomic(owner, toglobal(next, &target), tospread(MYPROC, &target)), 100 * next + MYPROC);
    EXPECT(toproc(atomic(follow, toglobal(next, &link))), next);
    EXPECT(tolocal(atomic(follow, toglobal(next, &link))) == &target, 1);
    for (int i = 0; i < 8; i++) {
        atomic(increment, &A[i]);
        atomic(increment, s + i);
    }
    on_one atomic(sum, toglobal(PROCS - 1, row), 3, row);
    barrier();
    for (int i = 0; i < 8; i++)
        EXPECT(A[i], 2 * PROCS);
    EXPECT(row[0], MYPROC == PROCS - 1 ? 7 : 1);
    return failures;
}
