#include <split-c/split-c.h>
#include "../check.h"

int A[2 * PROCS]::, B[PROCS]::[3], C[2][PROCS]::;

static int first(int *spread p)
{
    return *p;
}

int splitc_main(void)
{
    int zero = 0, *spread p = zero ? B : A;

    A[MYPROC] = MYPROC + 1;
    A[MYPROC + PROCS] = 50;
    B[MYPROC][0] = 9;
    B[MYPROC][2] = 10 + MYPROC;
    C[1][MYPROC] = 7;
    barrier();
    EXPECT(*A, 1);
    EXPECT(*(A + PROCS - 1), PROCS);
    EXPECT((A + PROCS)[0], 50);
    EXPECT(p == A && A == p && A != NULL && A < p + 1, 1);
    EXPECT(&A[PROCS] != NULL, 1);
    EXPECT(first(A), 1);
    EXPECT(first(!zero ? A : p), 1);
    EXPECT((*B)[2], 10);
    EXPECT((*(B + PROCS - 1))[2], 9 + PROCS);
    EXPECT(**B, 9);
    EXPECT(B[PROCS - 1][2] + *B[PROCS - 1], 18 + PROCS);
    EXPECT(*C[1], 7);
    EXPECT((C[0] + PROCS)[PROCS - 1], 7);
    EXPECT(A + PROCS - A, PROCS);
    if (A && B)
        EXPECT(!A, 0);
    barrier(); /* others still read element 0 */
    (A)[MYPROC] += 1;
    ((A))[MYPROC]++;
    EXPECT((A[MYPROC]), MYPROC + 3);
    barrier();
    return failures;
}
