// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

/* Pointers to blocks as results, parameters and in function pointer types. */
static int A[2 * PROCS]::[3];

static int (*spread whole(void))[3]
{
    return A;
}

static int (*global block(int i))[3]
{
    return &A[i];
}

static int (*spread next(int (*spread p)[3], int n))[3]
{
    return p + n;
}

static int pick(int (*spread (*walk)(int (*spread)[3], int))[3], int i)
{
    return (*walk(A, i))[1];
}

int splitc_main(void)
{
    int (*spread (*start)(void))[3] = whole;

    A[MYPROC][1] = 10 + MYPROC;
    A[MYPROC + PROCS][1] = 50 + MYPROC;
    barrier();
    EXPECT(whole()[PROCS - 1][1], 9 + PROCS);
    EXPECT((*block(PROCS))[1], 50);
    EXPECT(toproc(block(PROCS - 1)), PROCS - 1);
    EXPECT((*next(whole(), 2 * PROCS - 1))[1], 49 + PROCS);
    EXPECT(pick(next, PROCS), 50);
    EXPECT(start() == A && (*start)() - A == 0, 1);
    EXPECT(sizeof *whole(), 12);
    barrier();
    return failures;
}
