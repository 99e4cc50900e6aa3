// unchecked: indices leave their dimensions within the array
#include <split-c/split-c.h>
#include "../check.h"

enum where { FIRST, SECOND };
int A[3][PROCS]::[4];

int splitc_main(void)
{
    unsigned char c = 2;
    long l = PROCS - 1;
    unsigned u = 3;
    enum where w = SECOND;
    int minus = -1;

    A[c][MYPROC][u] = 5;
    A[w][MYPROC][FIRST] = 6;
    A[FIRST][MYPROC]['\1'] = 7;
    barrier();
    EXPECT(A[c][l][u], 5);
    EXPECT(A[w][l][FIRST], 6);
    EXPECT(A[0][(short)l][1], 7);
    EXPECT(A[minus + 2][l][minus + 1], 6);
    // As in C, an index may leave its own dimension within the array.
    EXPECT(A[0][PROCS + l][0], 6);
    EXPECT(A[2][-1][0], 6);
    EXPECT((&A[2][l])[0][3], 5);
    barrier();
    return failures;
}
