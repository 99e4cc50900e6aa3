#include <split-c/split-c.h>
#include "../check.h"

static inline int rotate(int value)
{
    int box[PROCS]::;
    box[(MYPROC + 1) % PROCS] = value;
    barrier();
    return box[MYPROC];
}

inline double shared_max(int n, double mine)
{
    double all[n]::[1], best = mine;
    all[MYPROC][0] = mine;
    barrier();
    for (int i = 0; i < n; i++)
        if (all[i][0] > best)
            best = all[i][0];
    return best;
}

double shared_max(int n, double mine);

int splitc_main(void)
{
    EXPECT(rotate(rotate(MYPROC)), (MYPROC + 2 * PROCS - 2) % PROCS);
    EXPECT(shared_max(PROCS, MYPROC * 1.5), (PROCS - 1) * 1.5);
    return failures;
}
