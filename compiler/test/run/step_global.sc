#include <split-c/split-c.h>
#include "../check.h"

struct counters {
    int i;
    double d;
    char c;
    unsigned long u;
} counters;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, old;
    struct counters *global g = toglobal(next, &counters);

    counters.i = 5;
    counters.d = 0.5;
    counters.c = 127;
    barrier();
    EXPECT(g->i++, 5);
    EXPECT(++g->i, 7);
    EXPECT(g->i--, 7);
    EXPECT(--g->i, 5);
    g->i++;
    ++g->i;
    old = g->c++;
    EXPECT(old, 127);
    EXPECT(g->c, -128);
    EXPECT(2 * g->d++, 1);
    EXPECT(2 * --g->d, 1);
    g->u--;
    for (int i = 0; i < 3; g->i++, i++)
        ;
    (*g).i++, (g->i)++;
    barrier();
    EXPECT(counters.i, 12);
    EXPECT(counters.u + 1, 0);
    return failures;
}
