#include <split-c/split-c.h>
#include "../check.h"

// One that was not freed would soon fill the spread space: 64 MiB each time.
#define BIG 8000000

static int leave_by_return(int i)
{
    double A[PROCS]::[BIG];
    A[MYPROC][i] = 1;
    if (i % 2)
        return A[MYPROC][i];
    {
        double B[PROCS]::[2];
        B[MYPROC][1] = 2;
        return B[MYPROC][1];
    }
}

int splitc_main(void)
{
    int i, sum = 0;

    for (i = 0; i < 600; i++) {
        double A[PROCS]::[BIG];
        A[MYPROC][i] = i;
        if (i % 3 == 0)
            continue;
        if (i == 200)
            break;
        sum += A[MYPROC][i] > 0;
    }
    EXPECT(sum, 133);
    for (i = 0; i < 300; i++)
        EXPECT(leave_by_return(i), i % 2 ? 1 : 2);
    i = 0;
again : {
    double A[PROCS]::[BIG];
    A[MYPROC][0] = i;
    if (++i < 300)
        goto again;
}
    do {
        double A[PROCS]::[BIG];
        A[MYPROC][0] = i;
    } while (--i);
    EXPECT(i, 0);
    return failures;
}
