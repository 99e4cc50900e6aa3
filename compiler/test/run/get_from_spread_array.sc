#include <split-c/split-c.h>
#include "../check.h"

struct pair {
    int a;
    double b;
};

int splitc_main(void)
{
    struct pair A[PROCS]::[2], all[64];
    int *global G[PROCS]::, *global got;
    int value = 5 * MYPROC;

    A[MYPROC][1].a = MYPROC;
    A[MYPROC][1].b = MYPROC * 0.5;
    G[MYPROC] = toglobal(MYPROC, &value);
    barrier();
    for (int p = 0; p < PROCS; p++)
        all[p] := A[p][1];
    got := G[PROCS - 1];
    sync();
    for (int p = 0; p < PROCS; p++) {
        EXPECT(all[p].a, p);
        EXPECT(2 * all[p].b, p);
    }
    EXPECT(*got, 5 * (PROCS - 1));
    barrier();
    return failures;
}
