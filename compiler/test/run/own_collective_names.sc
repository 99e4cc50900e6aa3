#include <split-c/split-c.h>
#include "../check.h"

// Programs of the time bring their own collectives, under these names.
int all_gather(int *spread in, int *out)
{
    for (int p = 0; p < PROCS; p++)
        out[p] := in[p];
    sync();
    return PROCS;
}

double all_gather_d(double x)
{
    return x;
}

void all_concat(void)
{
}

int connect, send, recv;

int splitc_main(void)
{
    int A[PROCS]::, all[64];

    A[MYPROC] = MYPROC * MYPROC;
    barrier();
    EXPECT(all_gather(A, all), PROCS);
    EXPECT(all[PROCS - 1], (PROCS - 1) * (PROCS - 1));
    EXPECT(2 * all_gather_d(0.5), 1);
    all_concat();
    barrier();
    return failures;
}
