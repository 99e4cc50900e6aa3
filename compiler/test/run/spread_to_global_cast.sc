#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int n = 3 * PROCS;
    int *spread A = all_spread_malloc(n, sizeof(int));
    int i;

    for_my_1d(i, n)
        A[i] = 3 * i;
    barrier();
    for (i = 0; i < n; i++) {
        int *global g = (int *global)(A + i);
        EXPECT(toproc(g), i % PROCS);
        EXPECT(*g, 3 * i);
        EXPECT((int *)g == (int *)A + i / PROCS, 1);
        EXPECT((int *)(A + i) == tolocal(g), 1);
        int *spread back = (int *spread)g;
        EXPECT(back - A, i);
    }
    // From here on the global pointer stays where it is.
    int *global mine = (int *global)(A + MYPROC);
    for (i = 0; i < 3; i++)
        EXPECT(mine[i], 3 * (MYPROC + i * PROCS));
    int *global of_local = (int *global)tolocal(A + MYPROC);
    EXPECT(of_local == mine, 1);
    EXPECT(tospread(1 % PROCS, (int *)A) - A, 1 % PROCS);
    barrier();
    all_spread_free(A);
    return failures;
}
