#include <split-c/split-c.h>
#include "../check.h"

int cells[8];
double half;
#define FETCH(to, from) to := from
#define FETCH2(to, g) ((to) := *(g))

struct target {
    int n[4];
    double d;
};

int splitc_main(void)
{
    struct target t = {{0}, 0}, *p = &t;
    int a, b, c = 0, *q = &b;
    int *global g = toglobal((MYPROC + 1) % PROCS, cells);
    double *global h = toglobal(PROCS - 1, &half);
    int base = 100 * ((MYPROC + 1) % PROCS);

    for (int i = 0; i < 8; i++)
        cells[i] = 100 * MYPROC + i;
    half = MYPROC / 2.0;
    barrier();
    a := *g;
    *q := g[1];
    t.n[0] := *(g + 2);
    p->n[c++] := g[3];
    p->d := *h;
    FETCH(t.n[2], g[5]);
    FETCH2(t.n[3], g + 6);
    c++, c := g[7];
    sync();
    EXPECT(a, base);
    EXPECT(b, base + 1);
    EXPECT(t.n[0], base + 3);
    EXPECT(t.n[2], base + 5);
    EXPECT(t.n[3], base + 6);
    EXPECT(c, base + 7);
    EXPECT(2 * t.d, PROCS - 1);
    EXPECT(is_sync(), 1);
    barrier();
    return failures;
}
