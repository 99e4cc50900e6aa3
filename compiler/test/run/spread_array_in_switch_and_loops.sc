#include <split-c/split-c.h>
#include "../check.h"

static int visit(int what)
{
    switch (what) {
    case 1: {
        int A[PROCS]::;
        A[MYPROC] = 10;
        if (A[MYPROC] == 10)
            break;
    }
    case 2:
        return -1;
    default: {
        int A[PROCS]::[1], B[PROCS]::;
        A[MYPROC][0] = B[MYPROC] = what;
        while (1) {
            int C[2 * PROCS]::;
            C[MYPROC] = what;
            if (C[MYPROC] > 4)
                goto out;
            what++;
        }
    out:
        return A[MYPROC][0] + B[MYPROC] + what;
    }
    }
    return 1;
}

int splitc_main(void)
{
    EXPECT(visit(1), 1);
    EXPECT(visit(2), -1);
    EXPECT(visit(3), 11);
    for (int i = 0, A[PROCS]::, n = 3; i < n; i++) {
        A[MYPROC] = i;
        EXPECT(A[MYPROC], i);
    }
    if (1) {
        int A[PROCS]::;
        A[MYPROC] = 1;
        EXPECT(A[MYPROC], 1);
    }
    return failures;
}
