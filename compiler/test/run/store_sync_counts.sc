#include <split-c/split-c.h>
#include "../check.h"

int A[PROCS]::[64];

int splitc_main(void)
{
    int p;

    for (p = 0; p < PROCS; p++)
        A[p][MYPROC] :- MYPROC + 1;
    all_store_sync();
    for (p = 0; p < PROCS; p++)
        EXPECT(A[MYPROC][p], p + 1);
    EXPECT(is_store_sync(1), 0); // consumed
    barrier();
    A[MYPROC][0] :- 5;
    A[MYPROC][1] :- 6;
    EXPECT(is_store_sync(8), 1);
    store_sync(4);
    EXPECT(is_store_sync(8), 0);
    EXPECT(is_store_sync(4), 1);
    reset_store_sync();
    EXPECT(is_store_sync(1), 0);
    barrier();
    for (p = 0; p < PROCS; p++)
        A[p][MYPROC + PROCS] :- 2 * MYPROC;
    store_sync(PROCS * sizeof(int));
    for (p = 0; p < PROCS; p++)
        EXPECT(A[MYPROC][p + PROCS], 2 * p);
    barrier();
    return failures;
}
