#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int A[PROCS]::, ones = 0;

    A[MYPROC] = 0;
    barrier();
    on_one A[0]++;
    on_one {
        A[0]++;
        ones = 1;
    }
    on_proc(PROCS - 1) A[PROCS - 1] += 10;
    on_proc(PROCS - 1)
    {
        int extra = 20;
        A[PROCS - 1] += extra;
    }
    on_one
        ones += 2;
    else
        ones -= 1;
    barrier();
    EXPECT(A[0], PROCS == 1 ? 32 : 2);
    EXPECT(A[PROCS - 1], PROCS == 1 ? 32 : 30);
    EXPECT(ones, MYPROC == 0 ? 3 : -1);
    EXPECT(PROCSLOG, PROCS == 1 ? 0 : PROCS == 2 ? 1 : PROCS == 4 ? 2 : PROCSLOG);
    EXPECT(PROCSLOG < 0, PROCS == 3);
    barrier();
    return failures;
}
