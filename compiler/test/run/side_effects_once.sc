#include <split-c/split-c.h>
#include "../check.h"

int cells[64];
static int calls;
struct bits {
    unsigned a : 4, b : 7;
} fields[4];

static int next(void)
{
    return calls++;
}

static int *global where(int *global p)
{
    calls++;
    return p;
}

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, cells), *global walk = g;
    struct bits *global f = toglobal(MYPROC, fields), *global fw = f;
    int A[8]::[2], i = 0, j = 1, v[4] = {0}, *to = v;

    cells[0] = 0;
    barrier();
    i = *where(g) + next();
    EXPECT(calls, 2);
    *where(g + MYPROC) += 0 * next();
    EXPECT(calls, 4);
    (*where(g + MYPROC))++;
    EXPECT(calls, 5);
    where(g + 8)[next()] = next() * 0;
    EXPECT(calls, 8);
    *walk++ = 0;
    *walk++ += 0;
    (*walk++)--;
    EXPECT(walk - g, 3);
    EXPECT(*++walk - *walk--, 0);
    i = 0;
    A[i++][i & 1] = 4;
    EXPECT(i, 1);
    A[i++][j--] += 0 * i;
    EXPECT(10 * i + j, 20);
    *to++ := *walk++;
    *to++ := A[i++][0];
    sync();
    EXPECT(to - v, 2);
    EXPECT(walk - g, 4);
    EXPECT(i, 3);
    fw++->b = 3;
    (fw++)->a += next() * 0 + 2;
    fw--->b++;
    EXPECT(fw - f, 1);
    EXPECT(fields[0].b + fields[1].a + fields[2].b, 6);
    walk++[0] :- calls++;
    EXPECT(walk - g, 5);
    EXPECT(calls, 10);
    sizeof where(g)[next()];
    EXPECT(calls, 10);
    EXPECT((walk += next() - 9) - g, 6);
    (where(walk), walk++);
    all_store_sync();
    return failures;
}
