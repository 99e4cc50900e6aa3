#include <split-c/split-c.h>
#include "../check.h"

extern int A[PROCS]::[2];
extern double late[]::[3], one[]::; /* as many as at their definition */
extern int table[][2]::;

static int read(int p)
{
    return A[p][1];
}

static double read_late(int p)
{
    double (*spread block)[3] = late;

    EXPECT(late[p][2] == block[p][2], 1);
    return late[p][2] + one[p] + table[p][1];
}

int A[PROCS]::[2];
double late[PROCS]::[3], one[PROCS]::;
int table[PROCS][2]::;

int splitc_main(void)
{
    extern int A[PROCS]::[2];
    extern double late[]::[3];
    A[MYPROC][1] = 5 * MYPROC;
    late[MYPROC][2] = MYPROC;
    one[MYPROC] = 2 * MYPROC;
    table[MYPROC][1] = 3 * MYPROC;
    barrier();
    for (int p = 0; p < PROCS; p++) {
        EXPECT(read(p), 5 * p);
        EXPECT((int)read_late(p), 6 * p);
    }
    EXPECT(sizeof one / sizeof one[0], (unsigned)PROCS);
    barrier();
    return failures;
}
