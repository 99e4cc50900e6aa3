// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <setjmp.h>
#include "../check.h"

int cell;
static jmp_buf back;
static int *volatile plain;
static int *global volatile far;

static void look(int *global g, int depth)
{
    far = g;
    if (depth == 0)
        longjmp(back, *g);
    look(g + 1 - 1, depth - 1);
}

int splitc_main(void)
{
    int *global volatile g = toglobal(PROCS - 1, &cell);
    volatile int tries = 0;
    int code;

    cell = 5 + MYPROC;
    barrier();
    if ((code = setjmp(back)) == 0) {
        tries++;
        look(g, 3);
    }
    EXPECT(code, 4 + PROCS);
    EXPECT(tries, 1);
    EXPECT(far == g && plain == 0, 1);
    EXPECT(*g, 4 + PROCS);
    barrier();
    return failures;
}
