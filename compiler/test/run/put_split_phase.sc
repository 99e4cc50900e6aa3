#include <split-c/split-c.h>
#include "../check.h"

struct pair {
    short a, b;
} pair;
int cells[4];
double real;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, before = (MYPROC + PROCS - 1) % PROCS, v = 3;
    int *global g = toglobal(next, cells);
    struct pair *global s = toglobal(next, &pair), local = {7, MYPROC};
    int A[PROCS]::;

    barrier();
    *g := v++;
    g[1] := MYPROC;
    *(g + 2) := 2.75;
    g[3] := cells == NULL;
    *s := local;
    *(double *global)toglobal(next, &real) := 1;
    A[next] := MYPROC + 1;
    local.a = 0; // the source may change at once
    v = 0;
    sync();
    barrier();
    EXPECT(cells[0], 3);
    EXPECT(cells[1], before);
    EXPECT(cells[2], 2);
    EXPECT(cells[3], 0);
    EXPECT(pair.a, 7);
    EXPECT(pair.b, before);
    EXPECT(real, 1);
    EXPECT(A[MYPROC], before + 1);
    barrier();
    s->b := 99;
    sync();
    barrier();
    EXPECT(pair.b, 99);
    return failures;
}
