#include <split-c/split-c.h>
#include "../check.h"

int one = 1, *global nowhere, *plain = &one, *spread row, both[2], *global (*returns)(int *global);

static int *global same(int *global p)
{
    return p;
}

int splitc_main(void)
{
    int a = 2, *global g = toglobal(MYPROC, &one), *p = &a, A[PROCS]::, *spread s = &A[0], b[2],
        *q = b;

    returns = same;
    row = all_spread_malloc(PROCS, sizeof(int));
    EXPECT(nowhere == NULL, 1);
    EXPECT(*plain + *p + *g, 4);
    A[MYPROC] = MYPROC;
    row[MYPROC] = 2 * MYPROC;
    q[0] = b[1] = 5;
    both[0] = both[1] = 1;
    barrier();
    EXPECT(s[PROCS - 1], PROCS - 1);
    EXPECT(row[PROCS - 1], 2 * (PROCS - 1));
    EXPECT(*returns(g), 1);
    EXPECT(b[0] + q[1] + both[1], 11);
    all_spread_free(row);
    return failures;
}
