#include <split-c/split-c.h>
#include "../check.h"

int A[4][PROCS]::[3];

int splitc_main(void)
{
    int *global g = &A[1][0][2];
    int(*global block)[3] = &A[2][PROCS - 1];

    A[MYPROC % 4][0][0] = 0;
    barrier();
    EXPECT(toproc(g), PROCS % PROCS);
    EXPECT(toproc(&A[2][PROCS - 1][0]), PROCS - 1);
    if (MYPROC == 0) {
        *g = 17;
        (*block)[1] = 18;
    }
    barrier();
    EXPECT(A[1][0][2], 17);
    EXPECT(A[2][PROCS - 1][1], 18);
    // The address part is the same for a row's blocks wherever they lie.
    EXPECT(tolocal(&A[1][0][0]) == tolocal(&A[1][PROCS - 1][0]), 1);
    EXPECT((char *)tolocal(&A[1][0][0]) - (char *)tolocal(&A[0][0][0]), 3 * sizeof(int));
    barrier();
    return failures;
}
