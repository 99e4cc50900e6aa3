#include <split-c/split-c.h>
#include "../check.h"

volatile int flag;
const int limit = 12;
struct pair {
    int a, b;
} pair;

static int read_const(const int *global p)
{
    return *p;
}

int splitc_main(void)
{
    volatile int *global v = toglobal((MYPROC + 1) % PROCS, &flag);
    const int *global c = toglobal(PROCS - 1, &limit);
    int *global const fixed = (int *global)v;
    int *global volatile moving = fixed;
    const struct pair *global cp = toglobal(PROCS - 1, &pair);

    flag = 0;
    pair.a = 3;
    pair.b = MYPROC;
    barrier();
    *v = 5;
    *v += 2;
    barrier();
    EXPECT(flag, 7);
    EXPECT(*moving, 7);
    EXPECT(read_const(c), 12);
    EXPECT(cp->a + cp->b, 3 + PROCS - 1);
    struct pair copy = *cp;
    copy.a++;
    EXPECT(copy.a, 4);
    barrier();
    *fixed = 1;
    barrier();
    EXPECT(flag, 1);
    return failures;
}
