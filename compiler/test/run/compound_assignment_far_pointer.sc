#include <split-c/split-c.h>
#include "../check.h"

struct holder {
    int *global g;
    long *spread s;
};

int cells[8];
struct holder shared;

int splitc_main(void)
{
    long *spread base = all_spread_malloc(4 * PROCS, sizeof(long)), *spread array[2];
    int *global start = toglobal(PROCS - 1, cells), *global *p;
    struct holder h, *q = &h;
    register int *global r = start;

    for (int i = 0; i < 8; i++)
        cells[i] = i;
    h.g = start;
    h.s = array[0] = base;
    barrier();
    // In struct members, array elements, behind pointers, in registers.
    EXPECT(*(h.g += 2), 2);
    EXPECT(*q->g++, 2);
    EXPECT(*--q->g, 2);
    EXPECT((q->s += PROCS + 1) - base, PROCS + 1);
    EXPECT(h.s-- - base, PROCS + 1);
    EXPECT(--h.s - base, PROCS - 1);
    EXPECT(array[0]++ == base, 1);
    EXPECT((array[0] += -1) == base, 1);
    p = &h.g;
    EXPECT(*(*p)++, 2);
    EXPECT(*++*p, 4);
    EXPECT(*r++ + *r++ * 10 + *++r * 100, 310);
    r -= 2;
    EXPECT(r - start, 1);
    // A pointer held in global space itself.
    shared.g = start;
    shared.s = base;
    barrier();
    struct holder *global there = toglobal(MYPROC, &shared);
    EXPECT(*there->g++, 0);
    EXPECT(*(there->g += 3), 4);
    EXPECT((there->s += 3) - base, 3);
    EXPECT(there->s-- - base, 3);
    EXPECT(shared.g - start, 4);
    EXPECT(shared.s - base, 2);
    barrier();
    all_spread_free(base);
    return failures;
}
