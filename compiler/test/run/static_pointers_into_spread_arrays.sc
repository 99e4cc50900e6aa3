// ranks: 1 3
#include <split-c/split-c.h>
#include "../check.h"

/* A static pointer may start with a place in a static spread array. */
extern int late[4]::;
int *spread first = late;
int A[4]::, B[2][PROCS]::[3];
static int *spread p = A, *spread const fixed = A + 2, n = 5;
int *global g = &A[1];
int *global in_block = &B[1][0][2];
int (*spread blocks)[3] = B[1];
int late[4]::;

int *spread start(void)
{
    static int C[PROCS]::;
    static int *spread q = C, *spread none = 0;

    EXPECT(none == 0, 1);
    return q++;
}

splitc_main()
{
    int *spread q = start();

    EXPECT(p == A, 1);
    EXPECT(first == late, 1);
    EXPECT(fixed == A + 2, 1);
    EXPECT(g == &A[1], 1);
    EXPECT(in_block == &B[1][0][2], 1);
    EXPECT(blocks == B[1], 1);
    EXPECT(start() == q + 1, 1);
    EXPECT(toproc(q), 0);
    EXPECT(n, 5);
    on_one {
        *p = 7;
        EXPECT(A[0], 7);
    }
    return failures;
}
